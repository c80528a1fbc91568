# The image in which stages run. `make image` builds it, and labels it with the digest of its recipe.
#
# BASE may be any Debian-like image, a mirrored or a locally made one too; where it brings no
# Python, Debian's is installed. EXTRAS are names of locks under requirements/, e.g. "dense". A
# certificate authority of one's own is handed in as the build secret `ca` (a PEM file).
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS base
RUN --mount=type=secret,id=ca \
    usable='import sys; sys.exit(sys.version_info < (3, 11))'; \
    python3 -c "$usable" 2>/dev/null || { \
        ca=/run/secrets/ca; if [ -s $ca ]; then set -- -o Acquire::https::CAInfo=$ca; fi; \
        apt-get "$@" update -qq && \
        DEBIAN_FRONTEND=noninteractive apt-get "$@" install -qq -y --no-install-recommends \
            python3 >/dev/null && \
        python3 -c "$usable" && \
        rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/*; }

FROM base AS dependencies
RUN --mount=type=secret,id=ca \
    python3 -c 'import ensurepip, venv' 2>/dev/null || { \
        ca=/run/secrets/ca; if [ -s $ca ]; then set -- -o Acquire::https::CAInfo=$ca; fi; \
        apt-get "$@" update -qq && \
        DEBIAN_FRONTEND=noninteractive apt-get "$@" install -qq -y --no-install-recommends \
            python3-venv >/dev/null; }
ARG EXTRAS=""
# A constant: every file of ours gets this time, and the wheel its own from it.
ARG SOURCE_DATE_EPOCH=1767225600
ENV SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore PYTHONHASHSEED=0
COPY requirements /build/requirements
# pip stays in a tree of its own, which the last stage leaves behind. The `.pth` file puts the
# package, which changes more often, into a layer of its own.
RUN --mount=type=secret,id=ca \
    set -e; ca=/run/secrets/ca; if [ -s $ca ]; then export PIP_CERT=$ca; fi; \
    python3 -m venv /build/venv && python3 -m venv --without-pip /opt/dependencies; \
    pip="/build/venv/bin/python -m pip -q"; \
    $pip install --require-hashes -r /build/requirements/build.txt; \
    for lock in runtime $EXTRAS; do \
        $pip --python /opt/dependencies/bin/python install --require-hashes --only-binary :all: \
            --no-compile -r /build/requirements/$lock.txt; \
    done; \
    echo /opt/package > "$(echo /opt/dependencies/lib/python3*/site-packages)/memrepro.pth"; \
    /opt/dependencies/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash \
        /opt/dependencies/lib; \
    find /opt/dependencies -exec touch --no-dereference --date=@$SOURCE_DATE_EPOCH {} +

FROM dependencies AS package
COPY . /build/project
RUN set -e; cd /build/project; pip="/build/venv/bin/python -m pip -q"; \
    $pip wheel --no-deps --no-build-isolation --no-index --wheel-dir /build/wheel .; \
    $pip install --no-deps --no-index --no-compile --target /opt/package /build/wheel/*.whl; \
    /opt/dependencies/bin/python -m compileall -q --invalidation-mode unchecked-hash /opt/package; \
    find /opt/package -exec touch --no-dereference --date=@$SOURCE_DATE_EPOCH {} +

FROM base
COPY --from=dependencies /opt/dependencies /opt/dependencies
COPY --from=package /opt/package /opt/package
ENV PATH=/opt/dependencies/bin:$PATH HOME=/tmp LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
WORKDIR /project
CMD ["python", "-m", "memrepro", "--help"]

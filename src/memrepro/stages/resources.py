"""What a memory system may use in a stage: a folder of its own, and its embedder."""

from collections.abc import Sequence

from tqdm import tqdm

from memrepro.memory.base import Resources
from memrepro.params import system_params
from memrepro.stages.work import Work


def resources_of(work: Work, benchmark: str, system: str, texts: Sequence[str]) -> Resources:
    """A system's working folder and, where its settings name one, its embedder.

    Every text is embedded here, once, so that forks and worker processes find it in the cache.
    """
    row = system_params(work.params, benchmark, system)
    workdir = work.out / "workdir"  # no declared output: it goes with the attempt
    workdir.mkdir(parents=True, exist_ok=True)
    if "embedder" not in row.settings:
        return Resources(workdir=workdir)
    from memrepro.memory.embedding import Embedder, by_name

    # `minilm_int8` is the export in `model_int8.onnx` of the folder that the system reads.
    name = str(row.settings["embedder"])
    folder = work.root / row.reads
    model = folder / f"model_{name.rpartition('_')[2]}.onnx"
    embedder = Embedder(model, folder / "tokenizer.json")
    with tqdm(desc="embed", total=len(texts), disable=not work.progress, leave=False) as bar:
        embedder.prepare(texts, lambda done, of: bar.update())
    return Resources(workdir=workdir, embed=by_name({name: embedder}))

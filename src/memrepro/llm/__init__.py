"""Calls to models: what is asked, what came back, and what is kept of it."""

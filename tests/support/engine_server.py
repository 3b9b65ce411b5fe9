"""The engine of the local model as a server of the OpenAI protocol, in this process."""

import os
from functools import cache

from sexplang.runtime.models.adapters import local

KEY = f"sk-engine-{os.urandom(16).hex()}"


@cache
def engine_url() -> str:
    """The address of the server, which wants KEY. It ends with the process."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = local._weights("")
    params.n_ctx, params.n_parallel, params.use_jinja, params.verbosity = 8192, 1, True, -1
    params.n_batch = params.n_ubatch = local.BATCH
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads, threads.poll = 1, 0
    params.cache_ram_mib = 0
    params.api_keys = [KEY]
    _kept.append(xllamacpp.Server(params))
    address: str = _kept[0].listening_address
    return address


_kept: list[object] = []

"""Positions of ids in the order of their experts, each expert padded to blocks."""

import itertools
import math

import numpy as np

from golden import Case, Expected, View, constant, explicit, index
from ops.rows import by

DTYPES = ("i32", "u32", "i64")


def reference(params, inputs):
    ids, experts, size = inputs["x"].reshape(-1).astype(np.int64), params["experts"], params["block_size"]
    mapped = inputs.get("expert_map", np.arange(experts))
    sorted_ids, expert_ids = [], []
    for expert in range(experts):
        own = np.flatnonzero(ids == expert).tolist() if mapped[expert] >= 0 else []
        own += [ids.size] * (-len(own) % size)
        sorted_ids += own
        expert_ids += [int(mapped[expert])] * (len(own) // size)
    count = len(sorted_ids)
    sorted_ids += [ids.size] * (params.places - count)
    expert_ids += [-1] * (params.blocks - len(expert_ids))
    return {"sorted_ids": Expected(np.array(sorted_ids, dtype=np.int64)), "expert_ids": Expected(np.array(expert_ids, dtype=np.int64)),
            "count": Expected(np.array([count], dtype=np.int64))}


def torch_reference(torch, params, inputs):
    """PyTorch has no such op."""
    return None


class Params(dict):
    places = blocks = 0


def case(name, x, experts, size, expert_map=None, extra=0, layout=None):
    params = Params(experts=experts, block_size=size)
    total = math.prod(x.shape)
    params.places = total + min(total, experts) * (size - 1) + extra
    params.blocks = -(-params.places // size) + extra
    inputs = {"x": x} if expert_map is None else {"x": x, "expert_map": expert_map}
    outputs = {"sorted_ids": View("i32", (params.places,), **(layout or {})), "expert_ids": View("i32", (params.blocks,), **(layout or {})),
               "count": View("i32", (1,))}
    name += f"_{experts}_experts_blocks_of_{size}_{x.dtype}" + ("" if expert_map is None else "_map") + (f"_extra_{extra}" if extra else "")
    return Case("moe_align_block_size", name, x.dtype, inputs, outputs, 0, params, bitwise=True)


def smoke():
    for turn, dtype in enumerate(DTYPES):
        for tokens, k, experts, size in ((5, 2, 8, 4), (33, 4, 60, 16), (7, 8, 256, 8)):
            x = index(dtype, (tokens, k), experts)
            yield case(f"smoke_{tokens}x{k}", x, experts, size)
            local = np.where(np.arange(experts) % 3 == turn, np.arange(experts) // 3, -1)
            yield case(f"smoke_{tokens}x{k}", x, experts, size, explicit("i32", local), extra=turn)


def exact():
    for dtype in DTYPES:
        yield case("exact_one_expert", constant(dtype, (40, 3), 2), 5, 16)  # the other experts have no token
        yield case("exact_last_expert", constant(dtype, (3, 3), 7), 8, 2)
        yield case("exact_in_turn", explicit(dtype, np.arange(64).reshape(16, 4) % 8), 8, 8)  # whole blocks: no padding
        yield case("exact_reversed", explicit(dtype, 9 - np.arange(40).reshape(10, 4) % 10), 10, 3)
        yield case("exact_vllm", explicit(dtype, [[2, 3, 4], [1, 2, 4], [1, 3, 4], [1, 2, 3]]), 5, 4)


def adversarial():
    for turn, dtype in enumerate(DTYPES):
        far = [-1, 8, 2**31 - 1, -2**31] if dtype == "i32" else [8, 2**31, 2**32 - 1, 9] if dtype == "u32" else [-1, 2**32 + 1, 2**62, -2**63]
        yield case("adversarial_out_of_range", explicit(dtype, np.array([far, [1, 7, 0, 1], far[::-1], [7, far[0], 3, far[1]]])), 8, 4)
        yield case("adversarial_none_left", explicit(dtype, np.array([far, far])), 8, 4)
        yield case("adversarial_all_elsewhere", index(dtype, (9, 2), 6), 6, 4, explicit("i32", [-1, -7, -2**31, -1, -1, -1]))
        yield case("adversarial_map", index(dtype, (9, 2), 6), 6, 4, explicit("i32", [5, -1, 2**31 - 1, 0, 0, -2]), extra=5)
        for shape in ((0, 4), (4, 0)):
            yield case(f"adversarial_no_ids_{shape[0]}", index(dtype, shape, 6), 6, 4, extra=3 * turn)
        yield case("adversarial_one_id", constant(dtype, (1, 1), 3), 1024, 65536 if turn == 0 else 128)


def layouts():
    for dtype in DTYPES:
        for name, x, result in (("transposed", by(1, 20), {}), ("padded", by(7, 1), {}), ("step_2", by(8, 2), by(2)),
                                ("negative", by(-4, 1), by(-1)), ("expanded", by(1, 0), by(3))):
            ids = np.arange(20)[:, None] * 7 % 10 + np.zeros((20, 4), dtype=np.int64) if name == "expanded" else None
            x = explicit(dtype, ids, **x) if ids is not None else index(dtype, (20, 4), 10, **x)
            yield case(f"layout_{name}", x, 10, 4, layout=result)
        yield case("layout_map_step_2", index(dtype, (20, 4), 10), 10, 4, explicit("i32", np.arange(10) - 3, **by(2)))


def sizes():
    turn = 0
    for experts, size in itertools.product((1, 2, 31, 64, 65, 128, 255, 256, 257, 512, 1000, 1024), (1, 3, 16, 64)):
        for tokens, k in ((1, 1), (1, 8), (31, 2), (129, 8)):
            turn += 1
            if turn % 3 and experts > 2:
                continue
            yield case(f"size_{tokens}x{k}", index(DTYPES[turn % 3], (tokens, k), experts), experts, size)
    for total in (1023, 1024, 1025, 2048, 5000, 40000):  # batches, and more than there are blocks
        for dtype in DTYPES:
            yield case(f"size_{total}x1", index(dtype, (total, 1), 100), 100, 16)


TOPICS = {"smoke": smoke, "exact": exact, "adversarial": adversarial, "layouts": layouts, "sizes": sizes}

"""The rows of the benchmark table: what is called, by us and by PyTorch, and the bytes that must move."""

import torch
import torch.nn.functional as F

BF16, F32, F16 = torch.bfloat16, torch.float32, torch.float16
NAMES = {BF16: "bf16", F32: "f32", F16: "f16"}


def random(*shape, dtype=BF16):
    return torch.randn(*shape, device="cuda", dtype=F32).to(dtype) if dtype != F32 else torch.randn(*shape, device="cuda")


class Workload:
    """moved: bytes that must move. ours(library) -> call. peer: a function of the tensors in `inputs`."""

    def __init__(self, name, op, moved, ours, peer, inputs, large_share):
        self.name, self.op, self.moved, self.ours, self.peer, self.inputs = name, op, moved, ours, peer, inputs
        self.large_share = large_share  # of the roof, that we are after where much moves


def norm(op, dtype, rows, cols):
    x, w, b = random(rows, cols, dtype=dtype), random(cols, dtype=dtype), random(cols, dtype=dtype)
    y = torch.empty_like(x)
    moved = 2 * x.numel() * x.element_size()
    peers = {
        "rms_norm": (lambda x, w, b: F.rms_norm(x, (cols,), w, 1e-5), lambda lib: lib.bind(op, y, x, w, 1e-5)),
        "layer_norm": (lambda x, w, b: F.layer_norm(x, (cols,), w, b, 1e-5), lambda lib: lib.bind(op, y, x, w, b, 1e-5)),
        "softmax": (lambda x, w, b: torch.softmax(x, -1), lambda lib: lib.bind(op, y, x)),
    }
    peer, ours = peers[op]
    return Workload(f"{op}/{NAMES[dtype]}/{rows}x{cols}", op, moved, ours, peer, (x, w, b), 0.88 if cols >= 65536 else 0.94)


def rotate_half(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


def rotate_pairs(x, cos, sin):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


def rope(op, *shape):
    x = random(*shape)
    t, d = (shape[1] if op == "rope_thd" else shape[2]), shape[3]
    angle = torch.rand(t, d // 2, device="cuda") * 6.28
    cos, sin = angle.cos().to(BF16), angle.sin().to(BF16)
    y = torch.empty_like(x)
    formula = rotate_pairs if op == "rope_i" else rotate_half
    peer = (lambda x, c, s: formula(x, c[:, None], s[:, None])) if op == "rope_thd" else formula
    return Workload(f"{op}/bf16/" + "x".join(map(str, shape)), op, 2 * x.numel() * 2,
                    lambda lib: lib.bind(op, y, x, cos, sin, None), peer, (x, cos, sin), 0.94)


def gather_last():
    x, y = random(8192, 8192), torch.empty(8192, 8192, device="cuda", dtype=BF16)
    index = torch.randint(0, 8192, (8192, 8192), device="cuda")
    return Workload("gather_lastdim/bf16/8192x8192/i64", "gather", x.numel() * (2 + 8 + 2),
                    lambda lib: lib.bind("gather", y, x, index, 1, None), lambda x, i: torch.gather(x, 1, i), (x, index), 0.94)


def index_select():
    x, y = random(128256, 4096), torch.empty(16384, 4096, device="cuda", dtype=BF16)
    index = torch.randint(0, 128256, (16384,), device="cuda")
    return Workload("index_select/bf16/128256x4096/16384", "index_select", 2 * y.numel() * 2 + 8 * 16384,
                    lambda lib: lib.bind("index_select", y, x, index, 0, None), lambda x, i: torch.index_select(x, 0, i), (x, index),
                    0.94)


def adds(op, dtype):
    rows, cols, out = 262144, 256, 16384
    x, y = random(rows, cols, dtype=dtype), random(out, cols, dtype=dtype)
    index = torch.randint(0, out, (rows,), device="cuda")
    size = x.element_size()
    if op == "scatter_add":
        wide = index[:, None].expand(rows, cols).contiguous()
        moved = x.numel() * (size + 8) + 2 * y.numel() * size

        def ours(lib):
            space, n = lib.workspace(op, y, x, wide, 0, 0)
            return lib.bind(op, y, x, wide, 0, 0, space.data_ptr() if space is not None else None, n, None)

        return Workload(f"scatter_add_dim0/{NAMES[dtype]}/262144x256->16384/i64", op, moved, ours,
                        lambda y, x, i: y.scatter_add_(0, i, x), (y.clone(), x, wide), 0.85)

    def ours(lib):
        space, n = lib.workspace(op, y, x, index, 0)
        return lib.bind(op, y, x, index, 0, space.data_ptr() if space is not None else None, n, None)

    return Workload(f"index_add/{NAMES[dtype]}/262144x256->16384", op, x.numel() * size + 2 * y.numel() * size + 8 * rows, ours,
                    lambda y, x, i: y.index_add_(0, i, x), (y.clone(), x, index), 0.80)


def upsample2d():
    x, y = random(8, 256, 128, 128), torch.empty(8, 256, 256, 256, device="cuda", dtype=BF16)
    return Workload("upsample_nearest2d/bf16/8x256x128x128->256x256", "upsample_nearest2d", (x.numel() + y.numel()) * 2,
                    lambda lib: lib.bind("upsample_nearest2d", y, x, 0, 0.0, 0.0),
                    lambda x: F.interpolate(x, size=(256, 256), mode="nearest"), (x,), 0.94)


def upsample1d():
    x, y = random(16, 512, 16384), torch.empty(16, 512, 32768, device="cuda", dtype=BF16)
    return Workload("upsample_nearest1d/bf16/16x512x16384->32768", "upsample_nearest1d", (x.numel() + y.numel()) * 2,
                    lambda lib: lib.bind("upsample_nearest1d", y, x, 0, 0.0),
                    lambda x: F.interpolate(x, size=(32768,), mode="nearest"), (x,), 0.94)


def copy(name, x, share):
    y = torch.empty(x.shape, device="cuda", dtype=x.dtype)
    return Workload(name, "strided_copy", 2 * x.numel() * x.element_size(), lambda lib: lib.bind("strided_copy", y, x),
                    lambda x: x.clone(memory_format=torch.contiguous_format), (x,), share)


ROW_SHAPES = [(1, 4096), (32, 8192), (262144, 128), (32768, 1024), (16384, 4096), (8192, 8192), (4096, 16384), (2048, 65536),
              (512, 262144)]

# The row ops between the rows of the table: odd and prime lengths, and those of other models.
OTHER_SHAPES = [(1, 2880), (37, 7168), (16384, 2880), (8192, 7168), (524288, 64), (262144, 96), (1048576, 32), (65536, 511),
                (65536, 769), (16384, 4097), (8192, 8191), (1024, 131072), (1024, 131071), (4, 8388608), (8388608, 3)]

OPS = ("rms_norm", "layer_norm", "softmax")


def table():
    """Functions that make the workloads, by name: the tensors of one are gone before the next is made."""
    rows = [(f"{op}/bf16/{r}x{c}", lambda op=op, r=r, c=c: norm(op, BF16, r, c)) for r, c in ROW_SHAPES for op in OPS]
    rows += [(f"{op}/f32/{r}x{c}", lambda op=op, r=r, c=c: norm(op, F32, r, c)) for r, c in ((16384, 4096), (8192, 8192)) for op in OPS]
    rows += [(f"{op}/bf16/4x32x4096x128", lambda op=op: rope(op, 4, 32, 4096, 128)) for op in ("rope", "rope_i")]
    rows += [("rope_thd/bf16/4x4096x32x128", lambda: rope("rope_thd", 4, 4096, 32, 128)),
             ("rope/bf16/32x32x1x128", lambda: rope("rope", 32, 32, 1, 128)),
             ("gather_lastdim/bf16/8192x8192/i64", gather_last),
             ("index_select/bf16/128256x4096/16384", index_select)]
    rows += [(f"{op}/{NAMES[t]}", lambda op=op, t=t: adds(op, t)) for op in ("scatter_add", "index_add") for t in (F32, BF16)]
    rows += [("upsample_nearest2d", upsample2d), ("upsample_nearest1d", upsample1d),
             ("strided_copy_transpose", lambda: copy("strided_copy_transpose/bf16/16384x8192", random(8192, 16384).t(), 0.90)),
             ("strided_copy_bthd_bhtd", lambda: copy("strided_copy_bthd_bhtd/bf16/4x4096x32x128",
                                                     random(4, 4096, 32, 128).transpose(1, 2), 0.94)),
             ("strided_copy_slice", lambda: copy("strided_copy_slice/bf16/16384x12288[:,4096:8192]",
                                                 random(16384, 12288)[:, 4096:8192], 0.94))]
    return rows


def others():
    rows = [(f"{op}/bf16/{r}x{c}", lambda op=op, r=r, c=c: norm(op, BF16, r, c)) for r, c in OTHER_SHAPES for op in OPS]
    rows += [(f"{op}/f16/8192x8192", lambda op=op: norm(op, F16, 8192, 8192)) for op in OPS]
    for d in (64, 80, 96, 256):
        rows.append((f"rope/bf16/4x32x2048x{d}", lambda d=d: rope("rope", 4, 32, 2048, d)))
        rows.append((f"rope_i/bf16/4x32x2048x{d}", lambda d=d: rope("rope_i", 4, 32, 2048, d)))
    return rows

"""Bar charts of compare.py's figures: one for each group of rows, and one with a typical row of each op. With one release of
matplotlib, equal figures give equal bytes."""

import os

# Colours that colour-blind people can distinguish (Okabe and Ito).
COLUMNS = {"hipops": ("hipops", "#0072B2"), "eager": ("PyTorch eager", "#999999"), "compile": ("torch.compile", "#E69F00")}

ROW_OPS = ("rms_norm", "layer_norm", "softmax", "fused_add_rms_norm")


def columns(row):
    """The columns of a row op's workload: 7168 for "rms_norm/bf16/37x7168"."""
    return int(row["name"].rsplit("x", 1)[1])


def is_row_op(row):
    return row["op"] in ROW_OPS


# Name, title and condition of each picture. A row is in the first picture whose condition holds.
GROUPS = [
    ("launches", "under 4 MiB: one row, a few rows, one decode step", lambda row: row["bytes"] < 4 << 20),
    ("long_rows", "norms and softmax: more than 16384 columns", lambda row: is_row_op(row) and columns(row) > 16384),
    ("short_rows", "norms and softmax: up to 128 columns", lambda row: is_row_op(row) and columns(row) <= 128),
    ("unaligned_rows", "norms and softmax: unaligned rows (odd columns)", lambda row: is_row_op(row) and columns(row) % 2),
    ("rows", "norms and softmax, bf16", lambda row: is_row_op(row) and "/bf16/" in row["name"]),
    ("rows_other_dtypes", "norms and softmax, other dtypes", is_row_op),
    ("rope", "rotary embedding", lambda row: row["op"].startswith("rope")),
    ("takes", "gather and index_select", lambda row: row["op"] in ("gather", "index_select")),
    ("adds", "scatter_add and index_add", lambda row: row["op"] in ("scatter_add", "index_add")),
    ("upsample", "nearest upsampling", lambda row: row["op"].startswith("upsample")),
    ("copies", "strided copies", lambda row: row["op"] == "strided_copy"),
]

# The rows of the overview, each timed with a peer: a large tensor of each op, then the tensors of one decode step.
TYPICAL = ["rms_norm/bf16/16384x4096", "layer_norm/bf16/16384x4096", "softmax/bf16/16384x4096",
           "rope/bf16/4x32x4096x128", "rope_i/bf16/4x32x4096x128", "rope_thd/bf16/4x4096x32x128", "gather_lastdim/bf16/8192x8192/i64",
           "index_select/bf16/128256x4096/16384", "scatter_add_dim0/f32/262144x256->16384/i64", "index_add/f32/262144x256->16384",
           "upsample_nearest1d/bf16/16x512x16384->32768", "upsample_nearest2d/bf16/8x256x128x128->256x256",
           "strided_copy_transpose/bf16/16384x8192", "rms_norm/bf16/1x4096", "layer_norm/bf16/1x4096", "softmax/bf16/1x4096",
           "rope/bf16/32x32x1x128"]


def grouped(rows):
    """(name, title, rows) of each group that has rows."""
    members = {}
    for row in rows:
        if not row.get("missing"):
            group = next((group for group in GROUPS if group[2](row)), None)
            if group is None:
                raise ValueError(f"row {row['name']}: op {row['op']} is in none of plots.py's groups")
            members.setdefault(group[:2], []).append(row)
    return [(*group[:2], sorted(members[group[:2]], key=lambda row: row["op"])) for group in GROUPS if group[:2] in members]


def subtitle(report):
    """The device and the versions that the report has. The date identifies hipops, because its version changes only at releases."""
    parts = [report["device"], report.get("driver") and f"driver {report['driver']}", f"PyTorch {report['torch']}", report.get("date")]
    return ", ".join(part for part in parts if part)


def draw_group(plt, title, below, rows, path, bar=0.14):
    """bar: the height of a bar, in inches."""
    present = [key for key in COLUMNS if any(key in row for row in rows)]
    thickness = 0.8 / len(present)
    figure, axes = plt.subplots(figsize=(9, 1.3 + bar * (len(present) + 1) * len(rows)), layout="constrained")
    for k, key in enumerate(present):
        places = [(i + (k - (len(present) - 1) / 2) * thickness, row) for i, row in enumerate(rows) if key in row]
        label, colour = COLUMNS[key]
        bars = axes.barh([at for at, _ in places], [100 * row["roof"] / row[key] for _, row in places], thickness, label=label, color=colour)
        if key == "hipops":
            axes.bar_label(bars, fmt="%.0f", padding=2, fontsize=7, bbox={"facecolor": "white", "linewidth": 0, "pad": 0.5})
    axes.axvline(100, color="black", linewidth=0.8, linestyle="--", label="a plain copy")
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, max(105, axes.get_xlim()[1]))
    axes.tick_params(axis="x", labelsize=8)
    axes.set_xlabel("speed, as % of a plain copy of as many bytes (the roof)", fontsize=8)
    figure.supxlabel(below, fontsize=8)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(present) + 1, fontsize=8, frameon=False)
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def pyplot():
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    # Keeps text as text: it is smaller, can be searched, and does not depend on this machine's fonts.
    plt.rcParams.update({"svg.hashsalt": "hipops", "svg.fonttype": "none", "axes.spines.top": False, "axes.spines.right": False})
    return plt


def draw(report, folder):
    """A picture of each group in the folder, and their paths."""
    plt = pyplot()
    os.makedirs(folder, exist_ok=True)
    paths = []
    for name, title, rows in grouped(report["rows"]):
        paths.append(os.path.join(folder, name + ".svg"))
        draw_group(plt, title, subtitle(report), rows, paths[-1])
    return paths


def typical(report):
    by_name = {row["name"]: row for row in report["rows"] if "eager" in row or "compile" in row}
    return [by_name[name] for name in TYPICAL if name in by_name]


def draw_typical(report, path):
    draw_group(pyplot(), "Each op on a large tensor; the last four: one step of decoding", subtitle(report), typical(report), path, bar=0.09)

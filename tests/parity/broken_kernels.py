"""Kernels broken on purpose. The harness must fail for each: a harness that cannot fail proves nothing.

A mutation replaces one text of kernels/ that occurs exactly once, and lists runs of hipops-parity that must catch it. The same
runs must pass with the kernels as they are. If golden cases are too small for a fault, the mutation also makes a constant
smaller, and the runs must pass with that change alone. run_broken_kernel.py does it.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of hipops-parity, and how it must end.

    'mismatch': exit status 1, with lines that contain FAIL.

    'report': the executor stops the process and prints the reason.

    'fault': an access to an unmapped page. The crash note names the case.
    """
    topic: str
    dtype: str
    ends: str = "mismatch"
    says: str = ""  # a text in its output
    race: bool = False
    guard: str = "zones"
    plan: str = ""  # "many-rows" or "ordered", for the option of that name
    case: str = ""  # one case of the topic, if all of them would last long


@dataclasses.dataclass(frozen=True)
class Change:
    file: str  # in kernels/
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    why: str  # the fault, and the check that finds it
    op: str
    file: str
    before: str
    after: str
    runs: tuple
    wave: int = 64
    small: tuple = ()  # Changes that do not alter results


REDUCE = "device/core/reduce.h"
WAVE = "device/core/wave.h"
UNALIGNED = "device/core/unaligned.h"
KERNEL = "device/rows/row_kernel.h"
SHAPE = "device/rows/shape.h"
TILE = "device/rows/tile.h"
COLUMNS = "device/rows/columns.h"
PACKED = "device/rows/packed.h"
PARTS = "device/rows/parts.h"
MOMENTS = "device/rows/moments.h"
RMS = "device/rows/rms.h"
TYPES = "device/core/types.h"
MATH = "device/core/math.h"

# Windows of an index have 2^30 places.
SMALL_WINDOWS = (Change("device/index/index_share.h", "kMostPlaces = 1 << 30", "kMostPlaces = 1 << 11"),)

MUTATIONS = (
    # ---- Reductions of several waves
    Mutation(
        "barrier_left_out",
        "Partial results are read before other waves have written them. The race check names both accesses; without "
        "it the NaN pattern of fresh shared memory is summed.",
        "softmax", REDUCE,
        before="    barrier();\n",
        after="",
        runs=(Run("sizes", "f32", "report", says="race at byte", race=True), Run("sizes", "f32"))),
    Mutation(
        "barrier_for_half_the_block",
        "The others never come, and the executor says who waits where.",
        "rms_norm", REDUCE,
        before="    barrier();\n",
        after="    if (int(wave_index()) < waves_ / 2) barrier();\n",
        runs=(Run("sizes", "f32", "report", says=": wait at the barrier at "),)),
    Mutation(
        "one_set_of_slots",
        "A wave that is early for the second reduction overwrites what a late one still reads of the first. In the "
        "executor's usual order no wave is so early, so that it takes the race check.",
        "layer_norm", REDUCE,
        before="    turn_ ^= 1;\n",
        after="",
        runs=(Run("sizes", "f32", "report", says="race at byte", race=True),)),
    Mutation(
        "shared_memory_too_small",
        "The second set of slots lies outside of what was asked for: so says the race check, which sees every "
        "access.",
        "layer_norm", REDUCE,
        before="HIPOPS_SHARED(Slot, slots, 2 * kWaves);",
        after="HIPOPS_SHARED(Slot, slots, kWaves);",
        runs=(Run("sizes", "f32", "report", says="bytes of shared memory at", race=True),)),
    Mutation(
        "last_wave_left_out",
        "An off-by-one in the number of waves: rows of several waves count the first one's share for the last one's."
        " Rows of equal magnitudes do not show it.",
        "rms_norm", REDUCE,
        before="return wave < waves_ ? f(",
        after="return wave + 1 < waves_ ? f(",
        runs=(Run("sizes", "f32"), Run("layouts", "bf16"))),
    Mutation(
        "two_reductions_in_one_place",
        "Shared memory belongs to its declaration, so another reduction object has the first one's slots, and "
        "each begins with the same set.",
        "softmax", KERNEL,
        before="return reduction(tile.template reduce<kSecondPass>(rows, 0, op, f, g), op);",
        after="return Reduction(reduction)(tile.template reduce<kSecondPass>(rows, 0, op, f, g), op);",
        runs=(Run("sizes", "f32", "report", says="race at byte", race=True),)),
    Mutation(
        "stage_not_awaited",
        "Rows in shared memory are read before all of them are there.",
        "rms_norm", PACKED,
        before="+ first, count); });\n    barrier();\n",
        after="+ first, count); });\n",
        runs=(Run("sizes", "f32", "report", says="race at byte", race=True, plan="many-rows"),)),
    Mutation(
        "stage_left_too_early",
        "Rows in shared memory are written out before all results are there.",
        "softmax", PACKED,
        before="  HIPOPS_METHOD void store(const Streams& s, int64_t first, int count) {\n    barrier();\n",
        after="  HIPOPS_METHOD void store(const Streams& s, int64_t first, int count) {\n",
        runs=(Run("sizes", "bf16", "report", says="race at byte", race=True, plan="many-rows"),)),

    # ---- Reductions of several lanes
    Mutation(
        "last_step_of_a_wave_left_out",
        "An off-by-one in the number of lanes: halves of a wave of 32 do not meet.",
        "rms_norm", WAVE,
        before="if constexpr (Width >= 32) v = op(",
        after="if constexpr (Width > 32) v = op(",
        runs=(Run("sizes", "f32"), Run("exact", "f16")),
        wave=32),
    Mutation(
        "partner_outside_the_wave",
        "The last lanes ask lanes that there are not, and the executor says so.",
        "softmax", WAVE,
        before="lane_index() ^ Half, wave_size",
        after="lane_index() + Half, wave_size",
        runs=(Run("smoke", "f32", "report", says="with the source lane 64"),)),

    # ---- Which elements
    Mutation(
        "only_the_first_row_of_a_block",
        "Where rows share a block, all groups take the first one.",
        "rms_norm", SHAPE,
        before="const int place = int(thread_index() >> lane_bits());",
        after="const int place = 0;",
        runs=(Run("sizes", "bf16"), Run("exact", "f32"))),
    Mutation(
        "groups_without_a_row_store",
        "A group past the last row works on that row, for the reductions, and must not store: in place it has "
        "read results as its input. Nowhere else does it show, as it stores what is there.",
        "rms_norm", KERNEL,
        before="const bool is_present = rows.has_row() && rows.contains(col);",
        after="const bool is_present = rows.contains(col);",
        runs=(Run("layouts", "f32", says="layout_in_place"),)),
    Mutation(
        "tail_not_stored",
        "The last vector of each row stays as it was: a NaN.",
        "layer_norm", KERNEL,
        before="rows.has_row() && rows.contains(col);",
        after="rows.has_row() && rows.contains(col + n);",
        runs=(Run("smoke", "f32"), Run("exact", "bf16"))),
    Mutation(
        "tail_not_summed",
        "The last vector of each row is taken for one past its end.",
        "rms_norm", TILE,
        before="if (!rows.contains(rows.column(base, v)))",
        after="if (!rows.contains(rows.column(base, v) + kLength))",
        runs=(Run("exact", "f32"), Run("sizes", "f16"))),
    Mutation(
        "padding_counts",
        "What is past a row's end is loaded from its last vector, which counts once.",
        "softmax", TILE,
        before="      if (!rows.contains(rows.column(base, v))) of_vector[v] = O::template identity<W>();\n",
        after="",
        runs=(Run("smoke", "f16"), Run("exact", "f32"))),
    Mutation(
        "every_tile_is_the_first",
        "Each tile of a row that goes by is stored where the first one belongs.",
        "layer_norm", KERNEL,
        before="store_tile<Op, Shape>(a, tile, rows, base, result,",
        after="store_tile<Op, Shape>(a, tile, rows, 0, result,",
        runs=(Run("sizes", "f64"), Run("layouts", "bf16"))),
    Mutation(
        "first_elements_forgotten",
        "Of a row that begins between two 16-byte boundaries, the elements before the first one are not taken; "
        "where waves of 32 stand for NVIDIA's.",
        "softmax", SHAPE,
        before="(i < head() ? i : -1)",
        after="-1",
        runs=(Run("layouts", "bf16"), Run("sizes", "f32")), wave=32),
    Mutation(
        "last_element_of_an_unaligned_row_lost",
        "It is in no vector, and so the last lane's of those that take the row's ends.",
        "fused_add_rms_norm", SHAPE,
        before="at < cols() ? at : -1",
        after="at < cols() - 1 ? at : -1",
        runs=(Run("layouts", "f32"),)),
    Mutation(
        "stores_shifted_by_the_loads_distance",
        "An output that lies differently is stored as if it were loaded; where waves of 32 stand for NVIDIA's.",
        "fused_add_rms_norm", UNALIGNED,
        before="funnel(before, own, kWideBytes - ahead * int(sizeof(T)))",
        after="funnel(before, own, ahead * int(sizeof(T)))",
        runs=(Run("layouts", "f32", says="misaligned"),), wave=32),
    Mutation(
        "shifted_stores_with_the_next_lane",
        "What an unaligned vector lacks of an aligned one is taken from the lane after it, not from the one "
        "before.",
        "fused_add_rms_norm", WAVE,
        before="(lane + Width - 1) % Width",
        after="(lane + 1) % Width",
        runs=(Run("layouts", "f32", says="misaligned"),), wave=32),
    Mutation(
        "shifted_stores_of_each_run_alone",
        "A run's first vector lacks what the last lane has stored before.",
        "fused_add_rms_norm", UNALIGNED,
        before="lane == 0 && !is_first ? of_last_lane_ : of_lane_before",
        after="of_lane_before",
        runs=(Run("layouts", "f32", says="misaligned"),), wave=32),
    Mutation(
        "stores_past_the_end",
        "One vector too many. The guard bytes behind the tensor and between strided rows see it.",
        "softmax", KERNEL,
        before="rows.has_row() && rows.contains(col);",
        after="rows.has_row() && rows.contains(col - n);",
        runs=(Run("sizes", "f32", says="wrote outside y"), Run("layouts", "bf16", says="between its elements"))),
    Mutation(
        "loads_past_the_end",
        "What is read is forgotten, so every number is right: only an unmapped page behind the tensor tells.",
        "softmax", SHAPE,
        before="return contains(col) ? col : end() - kLength;",
        after="return col;",
        runs=(Run("sizes", "f32", "fault", guard="after"),)),
    Mutation(
        "stores_into_the_input",
        "Inputs are compared with what they were.",
        "softmax", KERNEL,
        before="const int stream = Op::kInputs + i;",
        after="const int stream = i;",
        runs=(Run("exact", "f32", says="changed its input"),)),
    Mutation(
        "stride_of_x_ignored",
        "Columns are taken for neighbours.",
        "rms_norm", TILE,
        before="(Shape::kByElement ? col * rows.step(i) : col)",
        after="col",
        runs=(Run("layouts", "f32"), Run("layouts", "f64"))),
    Mutation(
        "stride_of_y_ignored",
        "The same for stores, which the pattern between strided elements sees as well.",
        "softmax", KERNEL,
        before="rows.stream(stream)[col * rows.step(stream)] =",
        after="rows.stream(stream)[col] =",
        runs=(Run("layouts", "f32", says="wrote outside y: between its elements"),)),
    Mutation(
        "outer_strides_mixed_up",
        "Every outer dimension steps as the innermost one does.",
        "softmax", SHAPE,
        before="rows * s_->outer[d].stride[i]",
        after="rows * s_->outer[0].stride[i]",
        runs=(Run("layouts", "f32", says="layout_permuted"),)),
    Mutation(
        "ends_of_a_stage_left_out",
        "Of short rows in one piece, what is before the first 16-byte boundary and after the last one is not "
        "there.",
        "softmax", PACKED,
        before="    if (edge >= 0) elements_[edge] = from[edge - shift_];\n",
        after="",
        runs=(Run("sizes", "f32", plan="many-rows"), Run("sizes", "bf16", plan="many-rows"))),
    Mutation(
        "last_span_left_out",
        "Of a row that is split, the last span counts for nothing.",
        "rms_norm", PARTS,
        before="i < spans; i += threads",
        after="i + 1 < spans; i += threads",
        runs=(Run("sizes", "f32"), Run("sizes", "bf16"))),
    Mutation(
        "last_span_cut_off",
        "What is over when a row is divided into spans belongs to the last one.",
        "softmax", PARTS,
        before=": s.cols;",
        after=": begin_of(index_ + 1);",
        runs=(Run("sizes", "f32"), Run("sizes", "bf16"))),
    Mutation(
        "parts_of_the_last_span",
        "Each block finds the parts of its row in the place of its own span: others overwrite theirs, and the last first.",
        "softmax", PARTS,
        before="{area_of(rows, begin),",
        after="{area_of(rows, begin_of(s_->spans - 1)),",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "weight_of_the_next_vector",
        "Off by one vector in the index of the weights: the last one comes from past their end, where there is a "
        "pattern, or no page.",
        "rms_norm", COLUMNS,
        before="load_packed<kLength>(data_ + col)",
        after="load_packed<kLength>(data_ + col + kLength)",
        runs=(Run("exact", "f32"), Run("sizes", "bf16", "fault", guard="after"))),
    Mutation(
        "stride_of_weights_ignored",
        "The weights are taken for neighbours.",
        "layer_norm", COLUMNS,
        before="*in = Vector<W, 1>{{data_[place(col)]}};",
        after="*in = Vector<W, 1>{{data_[col]}};",
        runs=(Run("layouts", "f32"),)),
    Mutation(
        "stride_of_f32_weights_ignored",
        "The same of weights in another type than the rows'.",
        "layer_norm", COLUMNS,
        before="Vector<f32, 1>{{data[place(col)]}}",
        after="Vector<f32, 1>{{data[col]}}",
        runs=(Run("layouts", "f16"),)),
    Mutation(
        "weights_never_asked_for",
        "What the registers for them happen to hold is taken for them.",
        "fused_add_rms_norm", COLUMNS,
        before="kept_[v][i] = Column<Shape>::value(in[v]);",
        after="static_cast<void>(in);",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "weights_of_the_row_before",
        "Rows lie otherwise to 16 bytes than the one that a lane's weights were asked for.",
        "rms_norm", COLUMNS,
        before="      issue_loads(rows);\n      wait_for_loads();",
        after="      wait_for_loads();",
        wave=32,
        runs=(Run("sizes", "bf16"),)),
    Mutation(
        "lanes_without_elements_count",
        "What a lane without elements of a row has is merged, too.",
        "layer_norm", PARTS,
        before="if (in_lane == 0) own",
        after="if (false) own",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "f32_weights_taken_for_elements",
        "Weights in f32 read as if they were of x's type.",
        "layer_norm", "device/rows/columns.h",
        before="return sizeof(W) != sizeof(f32) && is_f32_ != 0;",
        after="return sizeof(W) != sizeof(f32) && is_f32_ < 0;",
        runs=(Run("smoke", "f16"), Run("exact", "bf16"), Run("layouts", "bf16"))),
    Mutation(
        "bias_out_of_nowhere",
        "A bias that is not there adds nothing.",
        "layer_norm", "layer_norm.hip",
        before="return i == 0 ? 1 : 0;",
        after="return 1;",
        runs=(Run("smoke", "bf16"), Run("exact", "f16"))),
    Mutation(
        "zeros_for_ones",
        "A weight that is not there is ones.",
        "layer_norm", "layer_norm.hip",
        before="return i == 0 ? 1 : 0;",
        after="return 0;",
        runs=(Run("smoke", "bf16"), Run("exact", "f16"))),

    # ---- Formulas
    Mutation(
        "mean_left_in",
        "The simplest of layer_norm's mistakes.",
        "layer_norm", MOMENTS,
        before="fused_multiply_add(x[i] - high, scale, -low * scale), weight",
        after="fused_multiply_add(x[i], scale, -low * scale), weight",
        runs=(Run("smoke", "f32"), Run("smoke", "f64"))),
    Mutation(
        "mean_rounded_to_one_number",
        "Off by more than is allowed where x is close to the mean, or the mean is large.",
        "layer_norm", MOMENTS,
        before="mean.high, mean.low, scale}",
        after="mean.high, 0 * mean.low, scale}",
        runs=(Run("adversarial", "f32"), Run("adversarial", "f64"), Run("adversarial", "bf16"), Run("adversarial", "f16"))),
    Mutation(
        "sums_rounded",
        "What the additions of a long sum lose is not kept.",
        "layer_norm", REDUCE,
        before="a.lost + b.lost + lost",
        after="a.lost + b.lost + 0 * lost",
        runs=(Run("adversarial", "f32"), Run("sizes", "f64")),
        wave=32),
    Mutation(
        "sums_in_f64_rounded",
        "The same where sums of f32 are f64.",
        "layer_norm", REDUCE,
        before="return WideSum(a.sum + b.sum);",
        after="return WideSum(double(C(a.sum + b.sum)));",
        runs=(Run("adversarial", "f32"), Run("adversarial", "bf16"))),
    Mutation(
        "moments_of_far_means",
        "The variance from the sum of squares where the mean is many deviations off.",
        "layer_norm", MOMENTS,
        before="C(kVariances<T>) * squares",
        after="C(INFINITY)",
        runs=(Run("adversarial", "f32", says="huge_mean_1000"), Run("adversarial", "f16"))),
    Mutation(
        "mean_left_in_the_moments",
        "The mean of squares instead of the variance, where waves meet once.",
        "layer_norm", MOMENTS,
        before="fused_multiply_add(-mean.high * own.cols, mean.high, value_of(all.squares))",
        after="value_of(all.squares)",
        runs=(Run("adversarial", "f32", says="mean_of_0_4_deviations"), Run("adversarial", "f16"))),
    Mutation(
        "means_of_parts_taken_for_one",
        "The parts of a row deviate from its mean by as much as their own means do.",
        "layer_norm", MOMENTS,
        before="p.squares * power * power + widened(apart);",
        after="p.squares * power * power + widened(0 * apart);",
        runs=(Run("adversarial", "f32"),)),
    Mutation(
        "variance_of_a_sample",
        "Divided by n - 1, as statistics does.",
        "layer_norm", MOMENTS,
        before="value_of(row.squares) * terms.inverse_cols",
        after="value_of(row.squares) / (terms.cols - C(1))",
        runs=(Run("smoke", "f32"), Run("exact", "bf16"))),
    Mutation(
        "eps_left_out_of_layer_norm",
        "Too small to see on ordinary rows of bf16; not on small ones, and constant ones are NaN.",
        "layer_norm", MOMENTS,
        before="inverse_square_root(variance + (eps > least ? eps : least))",
        after="inverse_square_root(variance)",
        runs=(Run("exact", "f32", says="exact_eps"), Run("adversarial", "bf16"))),
    Mutation(
        "eps_left_out_of_rms_norm",
        "The same.",
        "rms_norm", RMS,
        before="terms.inverse_cols, terms.eps * power * power)",
        after="terms.inverse_cols, C(0))",
        runs=(Run("exact", "f32"), Run("adversarial", "bf16"))),
    Mutation(
        "range_of_a_norm_left_out",
        "Squares that overflow, or are too small, are not taken again: rows of 1e30 become 0.",
        "fused_add_rms_norm", RMS,
        before="      if (!in_range) squares = scaled, exponent = e;\n",
        after="",
        runs=(Run("adversarial", "f32", says="adversarial_large"),)),
    Mutation(
        "small_results_not_lifted",
        "What is normalized to a denormal number has lost digits that a large weight shows.",
        "fused_add_rms_norm", RMS,
        before="Magnitude()(lifted) < F::kLeastNormal * F::kLift ?",
        after="false ?",
        runs=(Run("adversarial", "f32", says="adversarial_small_by_large_weight"),)),
    Mutation(
        "one_more_left_out",
        "1 + weight is the weight alone.",
        "fused_add_rms_norm", RMS,
        before="weight[i] += C(1);",
        after="weight[i] += C(0);",
        runs=(Run("exact", "bf16"),)),
    Mutation(
        "maximum_not_subtracted",
        "Right for small values; exponentials of large ones overflow.",
        "softmax", "softmax.hip",
        before="view.map(Exponential{maximum});",
        after="view.map(Exponential{C(0)});",
        runs=(Run("adversarial", "f64"), Run("exact", "bf16"))),
    Mutation(
        "sum_not_rescaled",
        "Parts of a row are added up as if each had been taken under the same maximum.",
        "softmax", "softmax.hip",
        before="p.sum * (factor(p.reference) / P::kScale)",
        after="p.sum",
        runs=(Run("sizes", "f32"), Run("sizes", "bf16"))),
    Mutation(
        "difference_rounded",
        "The exponential of x - max as rounded: off by more than is allowed for differences of some 20.",
        "softmax", MATH,
        before="return fused_multiply_add(e, e > C(0) ? lost : C(0), e);",
        after="return e + C(0) * (e > C(0) ? lost : C(0));",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "power_by_one_number",
        "f64's powers by log2(e) as one number: off by as much for values of some 20.",
        "softmax", MATH,
        before="const double f = fused_multiply_add(d, kLog2Rest, fused_multiply_add(d, kLog2, kToInteger - n));",
        after="const double f = fused_multiply_add(d, 0 * kLog2Rest, fused_multiply_add(d, kLog2, kToInteger - n));",
        runs=(Run("adversarial", "f64"),)),
    Mutation(
        "rest_of_a_sum_forgotten",
        "Of what f64 sums only what is in the grid, 2^-34 of the largest element, is kept.",
        "softmax", "softmax.hip",
        before="    return {high, v - high};\n",
        after="    return {high, 0 * (v - high)};\n",
        runs=(Run("smoke", "f64"),)),

    # ---- Index ops and copies
    Mutation(
        "digit_read_in_part",
        "Indices whose digits differ in an odd bit alone take each other's places, and others stay as the workspace was.",
        "index_add", "device/index/index_order.h",
        before=" | lanes_with_other_bit(digit[n], bit + 1)",
        after="",
        runs=(Run("sizes", "f32", "fault", plan="ordered"), Run("indices", "u8", "fault", plan="ordered"))),
    Mutation(
        "order_not_kept",
        "Sources of a row are added in the reverse order of their lanes: not the sum that is promised.",
        "index_add", "device/index/index_order.h",
        before="earlier = peers & lanes_below();",
        after="earlier = peers & ~lanes_below() & ~(LaneMask(1) << lane_index());",
        runs=(Run("sizes", "f32", plan="ordered"), Run("smoke", "f64", plan="ordered"))),
    Mutation(
        "first_run_of_a_wave_passed",
        "Where a run of entries begins at a wave's first place, the wave takes the next run for it.",
        "index_add", "device/index/index_join.h",
        before=" - uint32_t(ballot(begins[0]) & 1)",
        after="",
        runs=(Run("sizes", "f32", "fault", plan="ordered"), Run("indices", "u8", plan="ordered"))),
    Mutation(
        "joined_sources_not_awaited",
        "Waves of a block that joins add up sources that others have not placed yet.",
        "index_add", "device/index/index_join.h",
        before="    barrier_for_memory();\n",
        after="",
        runs=(Run("sizes", "f32", "report", says="race at byte", race=True, plan="many-rows"),)),
    Mutation(
        "joined_rows_without_sources_counted",
        "A block that joins takes rows without sources for some that have any: where their lists are, nobody wrote.",
        "index_add", "device/index/index_join.h",
        before="is_listed = count != 0 && !is_apart(count);",
        after="is_listed = !is_apart(count);",
        runs=(Run("sizes", "f32", "fault", plan="many-rows"),)),
    Mutation(
        "joined_list_too_short",
        "A row's last source is left out.",
        "index_add", "device/index/index_join.h",
        before="uint64_t(before.entries() + count) << 32",
        after="uint64_t(before.entries() + count - 1) << 32",
        runs=(Run("sizes", "f32", plan="many-rows"), Run("indices", "f16", plan="many-rows"))),
    Mutation(
        "longer_lists_not_passed_over",
        "Lists of each kind are numbered from 0 on, as if there were none of longer ones.",
        "index_add", "device/index/index_join.h",
        before="of_kind((all.up_to_each() << kBits) + (packed >> kEntryBits), kind(count))",
        after="of_kind(packed >> kEntryBits, kind(count))",
        runs=(Run("sizes", "f32", "fault", plan="many-rows"),)),
    Mutation(
        "first_source_instead_of_y",
        "What comes first of a row's sum is a source once more, and not what y has there.",
        "index_add", "device/index/running_sum.h",
        before="n == 0 && first == 0 ? y : at",
        after="at",
        runs=(Run("sizes", "f32", plan="ordered"), Run("smoke", "bf16", plan="many-rows"))),
    Mutation(
        "sources_over_the_tallies",
        "A block that joins puts sources where other waves still look up how many entries there are before theirs.",
        "index_add", "device/index/index_join.h",
        before="kFirstSource = kTallied * kWordsOfVector;",
        after="kFirstSource = 0;",
        runs=(Run("sizes", "f32", "report", says="race at byte", race=True, plan="many-rows"),)),
    Mutation(
        "long_list_among_the_others",
        "A block counts a long list among those that it adds up itself, where it is not.",
        "index_add", "device/index/index_join.h",
        before="is_listed = count != 0 && !is_apart(count);",
        after="is_listed = count != 0;",
        runs=(Run("adversarial", "f32", "fault", plan="many-rows"),)),
    Mutation(
        "long_list_kept_by_its_block",
        "A long list's sources stay in shared memory, where those that take its parts don't look.",
        "index_add", "device/index/index_join.h",
        before="    if (in_shared_)\n      for (",
        after="    if (false)\n      for (",
        runs=(Run("adversarial", "f32", "fault", plan="many-rows"),)),
    Mutation(
        "last_part_left_out",
        "Nobody takes the last part of a row with a long list.",
        "index_add", "device/index/long_lists.h",
        before="if (part >= parts) break;",
        after="if (part + 1 >= parts) break;",
        runs=(Run("adversarial", "f32", plan="many-rows"), Run("adversarial", "bf16", plan="many-rows"))),
    Mutation(
        "stage_of_sources_overwritten",
        "A block stages the next sources of a long list while some of its lanes still add the last ones.",
        "index_add", "device/index/block_sum.h",
        before="      barrier();  // until what was there has been added\n",
        after="",
        runs=(Run("adversarial", "f32", "report", says="race at byte", race=True, plan="many-rows"),)),
    Mutation(
        "sources_past_the_end",
        "What a long list's last stage has no more sources for is added all the same.",
        "index_add", "device/index/block_sum.h",
        before="count - first < kSources ? count - first : kSources",
        after="kSources",
        runs=(Run("adversarial", "f32", plan="many-rows"), Run("adversarial", "f16", plan="many-rows"))),
    Mutation(
        "keys_over_the_ones_before",
        "Of the indices that a work-item finds for its share at a time, each takes the place of the one before.",
        "index_add", "device/index/index_share.h",
        before="own &= own - 1, ++to) {",
        after="own &= own - 1) {",
        runs=(Run("sizes", "f32", "fault"),)),
    Mutation(
        "list_read_too_early",
        "Waves look for their rows in a list that others are still writing.",
        "index_add", "device/index/index_share.h",
        before="    if (has_room) order();\n    barrier();\n",
        after="    if (has_room) order();\n",
        runs=(Run("sizes", "f32", "report", says="race at byte", race=True),)),
    Mutation(
        "keys_by_row_alone",
        "The indices that name a row are all put in one place of the list.",
        "index_add", "device/index/index_share.h",
        before="before += found_[other] < own;",
        after="before += uint64_t(found_[other]) >> 32 < own >> 32;",
        runs=(Run("indices", "f32", "fault"),)),
    Mutation(
        "row_of_every_index",
        "A row's sources are added by each of the indices that name it, not the first alone.",
        "index_add", "device/index/index_share.h",
        before="return row_of(keys_[entry]) != row(entry); }",
        after="return true; }",
        runs=(Run("indices", "f32"), Run("sizes", "u8"))),
    Mutation(
        "rows_of_no_share",
        "Shares begin a share too late: to the rows of the first one, nothing is added.",
        "index_add", "device/index/index_share.h",
        before="least_(number * hashes)",
        after="least_((number + 1) * hashes)",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "rows_behind_a_crowd_left_out",
        "When the rows before a crowded one are done, the block takes its share for done.",
        "index_add", "device/index/index_share.h",
        before="rows = before_crowded ? 1 : all_rows - row;",
        after="rows = before_crowded ? 0 : all_rows - row;",
        runs=(Run("adversarial", "f32", case="adversarial_long_list_1200_f32_i16"),)),
    Mutation(
        "parts_not_mirrored",
        "Two sorted parts are merged without going through the second one from its end.",
        "index_add", "device/index/index_share.h",
        before="uint32_t mirror = 2 * merged - 1;",
        after="uint32_t mirror = merged;",
        runs=(Run("adversarial", "f32", case="adversarial_long_list_1200_f32_i16"),)),
    Mutation(
        "pairs_not_awaited",
        "Keys are compared while others are still exchanging them.",
        "index_add", "device/index/index_share.h",
        before="        barrier();\n        mirror = half / 2;",
        after="        mirror = half / 2;",
        runs=(Run("adversarial", "f32", "report", says="race at byte", race=True,
                  case="adversarial_long_list_1200_f32_i16"),)),
    Mutation(
        "crowded_row_past_its_sources",
        "What the groups have loaded for want of a further source is added all the same.",
        "index_add", "index_add.hip",
        before="const uint32_t sources = count - first < groups ? count - first : groups;",
        after="const uint32_t sources = groups;",
        runs=(Run("adversarial", "f32", case="adversarial_long_list_1200_f32_i16"),)),
    Mutation(
        "crowded_row_not_awaited",
        "The next sources of a crowded row overwrite the last ones while they are still added.",
        "index_add", "index_add.hip",
        before="        parked_[parked] = sum;\n      }\n      barrier();",
        after="        parked_[parked] = sum;\n      }",
        runs=(Run("adversarial", "f32", "report", says="race at byte", race=True,
                  case="adversarial_long_list_1200_f32_i16"),)),
    Mutation(
        "few_added_by_each",
        "Of few indices, each one's wave adds what names its row, not the first one's alone.",
        "index_add", "index_add.hip",
        before="if (row == kNothing || first != place_) return;",
        after="if (row == kNothing) return;",
        runs=(Run("smoke", "f16", "fault"), Run("layouts", "f32", "fault"))),
    Mutation(
        "few_reported_by_each_part",
        "Of few indices, one out of range is counted for each part of its row.",
        "index_add", "index_add.hip",
        before="reports_ = i == 0;",
        after="reports_ = lane_index() == 0;",
        runs=(Run("indices", "f32"), Run("indices", "bf16"))),
    Mutation(
        "few_sources_not_awaited",
        "Of few indices, the places of a row's further sources are read while others still write them.",
        "index_add", "index_add.hip",
        before="      before += uint32_t(count_bits(same[n]));\n    }\n    wave_barrier();",
        after="      before += uint32_t(count_bits(same[n]));\n    }",
        runs=(Run("sizes", "f32", "fault"), Run("smoke", "f16", "fault"))),
    Mutation(
        "few_counted_past_the_end",
        "Of few indices, those past the last one, which is read in their place, count as if they were there.",
        "index_add", "index_add.hip",
        before="ballot(n * wave_size + lane_index() < a.indices && value[n] == value[kLoads])",
        after="ballot(value[n] == value[kLoads])",
        runs=(Run("sizes", "f32", "fault", guard="after"), Run("smoke", "f16"))),
    Mutation(
        "windows_of_one_place",
        "Of an index in several windows, the sources of the later ones are taken from the first one's places.",
        "index_add", "index_add.hip",
        before="x_ + window.first * a.x_step",
        after="x_",
        runs=(Run("adversarial", "f32", race=True, case="adversarial_long_list_2600_f32_i16"),),
        small=SMALL_WINDOWS),
    Mutation(
        "rows_of_other_shares_stored",
        "A row that a window before has named counts as named, also where it is another block's.",
        "index_add", "index_add.hip",
        before="    if (window.first == 0) is_named_ = false;  // the row may be another block's\n",
        after="",
        runs=(Run("adversarial", "f32", race=True, case="adversarial_long_list_2600_f32_i16"),),
        small=SMALL_WINDOWS),
    Mutation(
        "index_out_of_range_taken",
        "An index far below 0 is read at.",
        "gather", "device/index/indices.h",
        before="if (uint64_t(value) < uint64_t(index.size)) return value;",
        after="if (value < index.size) return value;",
        runs=(Run("indices", "f32", "fault"),)),
    Mutation(
        "few_units_past_the_end",
        "The last block of few units takes one that lies behind y, too.",
        "gather", "device/move/take.h",
        before="  if (i >= a.walk.count) return;\n",
        after="  if (i > a.walk.count) return;\n",
        runs=(Run("smoke", "f32", says="wrote outside y"), Run("sizes", "u8", says="wrote outside y"))),
    Mutation(
        "few_units_copied_past_the_end",
        "The same of a copy.",
        "strided_copy", "strided_copy.hip",
        before="  if (i >= a.walk.count) return;\n",
        after="  if (i > a.walk.count) return;\n",
        runs=(Run("smoke", "f32", says="wrote outside y"), Run("sizes", "u8", says="wrote outside y"))),
    Mutation(
        "few_out_of_range_not_reported",
        "Where there are few units, indices that mean nothing give zeros and are not counted.",
        "index_select", "device/move/take.h",
        before="  const int64_t from = source_of(a, at, i, 1, true);\n  T moved{};",
        after="  const int64_t from = source_of(a, at, i, 1, false);\n  T moved{};",
        runs=(Run("indices", "f32"), Run("indices", "u8"))),
    Mutation(
        "staged_ends_left_out",
        "Of rows in shared memory, what is before the first 16-byte boundary and after the last one is not there.",
        "gather", "device/move/staged_chunk.h",
        before="    if (edge >= 0) elements_[edge] = at_edge;\n",
        after="",
        runs=(Run("sizes", "f32"), Run("sizes", "u8"))),
    Mutation(
        "more_than_the_launch_brings",
        "A kernel takes the launch to bring more shared memory than it does: on a GPU, what lies behind it.",
        "gather", "device/move/take_staged.h",
        before="static_or_launch_shared<b128, kStagedBytes / kWideBytes>(a.copy_bytes / kWideBytes)",
        after="static_or_launch_shared<b128, kStagedBytes / kWideBytes>(a.copy_bytes / kWideBytes + 1)",
        runs=(Run("sizes", "f32", ends="report", says="from the launch, which brings"),)),
    Mutation(
        "panels_overlap_counted_twice",
        "Of columns that two panels have, both report what is out of range.",
        "gather", "device/move/take_staged.h",
        before="const bool counts = col >= chunk.overlap && (a.run == 0 || line == 0);",
        after="const bool counts = a.run == 0 || line == 0;",
        runs=(Run("sizes", "f32"), Run("sizes", "u16"))),
    Mutation(
        "panels_past_the_end",
        "The last panel of columns begins where the one before ends, also where there are too few columns left.",
        "gather", "device/move/take_staged.h",
        before="const int32_t overlap = a.overlap != 0 && is_last_panel(a, r) ? a.overlap : 0;",
        after="const int32_t overlap = 0;",
        runs=(Run("sizes", "u16"),)),
    Mutation(
        "ratio_of_f64_in_f32",
        "Positions that candle finds in f64 are found as PyTorch does.",
        "upsample_nearest2d", "device/move/upsample.h",
        before="return floor_to(double(i) * d.ratio64, I(d.last));",
        after="return floor_to(float(i) * d.ratio32, I(d.last));",
        runs=(Run("sizes", "f16", plan="many-rows"),)),
    Mutation(
        "ratio_of_f64_in_f32_by_periods",
        "The same, where y has no gaps.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="const int32_t whole = int32_t(position * ratio_of(d, F()));",
        after="const int32_t whole = int32_t(float(position) * d.ratio);",
        runs=(Run("adversarial", "u8"),)),
    Mutation(
        "periods_without_channels",
        "Of periods with channels innermost, elements are found as if there were none.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="if (p.channels != 1) {",
        after="if (false) {",
        runs=(Run("exact", "u8"),)),
    Mutation(
        "vectors_without_channels",
        "The same of vectors.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="else if (p.channels == 1) move_vector",
        after="else if (true) move_vector",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_without_a_rest",
        "What is behind the last whole vector is not there.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="if (number[0] < count) y",
        after="if (false) y",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_of_one_line",
        "A vector's elements beyond the end of a line are taken from the same line.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="from = beyond ? next : here;",
        after="from = here;",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_past_the_line",
        "On the next line, columns are counted on from the one before.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="(beyond ? at_next : at)",
        after="at",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_of_f64_in_f32",
        "Vectors for candle, which finds positions in f64, are found as for PyTorch.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="if (__builtin_expect(p.in_f64, 0)) move_vector",
        after="if (false) move_vector",
        runs=(Run("adversarial", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_of_one_plane",
        "After a plane's last line comes the same plane's first one.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="(ends ? plane + 1 : plane) * p.plane_stride",
        after="plane * p.plane_stride",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_of_the_first_period",
        "All periods of y are taken from the first one of x.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="keep_one_address(static_cast<const T*>(a.x) + period * p.x_step)",
        after="keep_one_address(static_cast<const T*>(a.x))",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "few_pixels_past_the_end",
        "Where there are few units, work-items past the last one store what they have.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="if (at < count) static_cast<T*>(a.y)[at] = value[n];",
        after="static_cast<T*>(a.y)[at] = value[n];",
        runs=(Run("smoke", "f32", "fault", guard="after"), Run("exact", "u8", "fault", guard="after"))),
    Mutation(
        "few_pixels_from_past_the_end",
        "The same work-items load from where the next planes would be.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="    if (i[n] >= count) i[n] = count - 1;",
        after="    if (false) i[n] = count - 1;",
        runs=(Run("smoke", "f32", "fault", guard="after"), Run("exact", "u8", "fault", guard="after"))),
    Mutation(
        "tile_read_too_early",
        "A transpose reads its tile in shared memory while others still write it.",
        "strided_copy", "strided_copy.hip",
        before="tile[(line + r * Tile::kLines) * Tile::kPitch + lane] = value[r];\n    barrier();",
        after="tile[(line + r * Tile::kLines) * Tile::kPitch + lane] = value[r];",
        runs=(Run("sizes", "f32", "report", says="race at byte", race=True, plan="many-rows"),
              Run("sizes", "f32", plan="many-rows"))),

    # ---- Rounding. Truncation stays under the 1 ULP that 16-bit results may have, except in cases that allow half an ULP.
    Mutation(
        "bf16_cut_off",
        "Rounded towards zero instead of to nearest.",
        "rms_norm", TYPES,
        before="uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);",
        after="uint32_t rounded = bits;",
        runs=(Run("adversarial", "bf16", says="adversarial_rounding"),)),
    Mutation(
        "f16_cut_off",
        "The same.",
        "rms_norm", TYPES,
        before="return {bit_cast<uint16_t>(_Float16(v))};",
        after="return {bit_cast<uint16_t>(_Float16(bit_cast<float>(bit_cast<uint32_t>(v) & ~0x1fffu)))};",
        runs=(Run("adversarial", "f16", says="adversarial_rounding"),)),
    Mutation(
        "zeros_lose_their_sign",
        "-0 becomes +0, as by clang's fused product and conversion for AMD.",
        "rms_norm", TYPES,
        before="return {bit_cast<uint16_t>(_Float16(v))};",
        after="return {bit_cast<uint16_t>(_Float16(v + 0.0f))};",
        runs=(Run("adversarial", "f16", says="adversarial_signs_of_zero"),)),
)

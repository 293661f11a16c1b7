"""Kernels broken on purpose. The harness must fail for each: a harness that cannot fail proves nothing.

A mutation replaces one text of kernels/ that occurs exactly once, and lists runs of hipops-parity that must catch it.
The same runs must pass with the kernels as they are. If golden cases are too small for a fault, the mutation also makes
a constant smaller, and the runs must pass with that change alone. run_broken_kernel.py does it.
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
    output: str = ""  # a text in its output
    race: bool = False
    guard: str = "zones"
    plan: str = ""  # "many-rows" or "ordered", for the option of that name; "repeat 3": in grids of one block, too
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
COLUMN_SUMS = "device/rows/column_sums.h"
PACKED = "device/rows/packed.h"
PARTS = "device/rows/parts.h"
MAP = "device/map/map_kernel.h"
FLOAT8 = "device/core/float8.h"
ACTIVATION = "device/map/activation.h"
GRADIENT = "device/map/activation_gradient.h"
SOFTMAX = "device/rows/softmax.h"
TYPED = "device/rows/typed.h"
MOMENTS = "device/rows/moments.h"
RMS = "device/rows/rms.h"
RESULTS = "device/rows/results.h"
EXTREME_ROWS = "device/rows/extreme_rows.h"
TYPES = "device/core/types.h"
MATH = "device/core/math.h"
RADIX = "device/core/radix.h"
SORTED_SOURCES = "device/index/sorted_sources.h"
SORT_TILE = "device/index/sort_tile.h"
RADIX_PASSES = "device/index/radix_passes.h"
SEGMENTED_SUM = "device/index/segmented_sum.h"
CUMSUM = "device/reduce/cumsum.h"
CUMSUM_LINES = "device/reduce/cumsum_lines.h"
SORT_KEYS = "device/select/sort_keys.h"
SORT_ROWS = "device/select/sort_rows.h"

# Windows of an index have 2^30 places.
SMALL_WINDOWS = (Change("device/index/row_bucket.h", "kMostPlaces = 1 << 30", "kMostPlaces = 1 << 11"),)

MUTATIONS = (
    # ---- Reductions of several waves
    Mutation(
        "barrier_left_out",
        "Partial results are read before other waves have written them. The race check names both accesses; without "
        "it the NaN pattern of fresh shared memory is summed.",
        "softmax", REDUCE,
        before="    barrier();\n",
        after="",
        runs=(Run("sizes", "f32", "report", output="race at byte", race=True), Run("sizes", "f32"))),
    Mutation(
        "barrier_for_half_the_block",
        "The other half never reaches the barrier, and the executor reports the waiting work-items.",
        "rms_norm", REDUCE,
        before="    barrier();\n",
        after="    if (int(wave_index()) < waves_ / 2) barrier();\n",
        runs=(Run("sizes", "f32", "report", output=": wait at the barrier at "),)),
    Mutation(
        "one_set_of_slots",
        "A wave that is early for the second reduction overwrites values of the first that a late wave still reads. In "
        "the executor's usual order no wave is so early, so only the race check detects it.",
        "layer_norm", REDUCE,
        before="    turn_ ^= 1;\n",
        after="",
        runs=(Run("sizes", "f32", "report", output="race at byte", race=True),)),
    Mutation(
        "shared_memory_too_small",
        "The second set of slots is outside of the array. The race check, which checks every access, reports it.",
        "layer_norm", REDUCE,
        before="HIPOPS_SHARED(Slot, slots, 2 * kWaves);",
        after="HIPOPS_SHARED(Slot, slots, kWaves);",
        runs=(Run("sizes", "f32", "report", output="bytes of shared memory at", race=True),)),
    Mutation(
        "last_wave_left_out",
        "An off-by-one in the number of waves: the first wave's part is counted instead of the last wave's. Rows of "
        "equal magnitudes do not show it.",
        "rms_norm", REDUCE,
        before="return wave < waves_ ? f(",
        after="return wave + 1 < waves_ ? f(",
        runs=(Run("sizes", "f32"), Run("layouts", "bf16"))),
    Mutation(
        "two_reductions_in_one_place",
        "Shared memory belongs to its declaration, so two reduction objects have the same slots, and each begins with "
        "the same set.",
        "softmax", KERNEL,
        before="return reduction(h(tile.template reduce<kPass != Pass::first>(rows, 0, op, f, g)), op);",
        after="return Reduction(reduction)(h(tile.template reduce<kPass != Pass::first>(rows, 0, op, f, g)), op);",
        runs=(Run("sizes", "f32", "report", output="race at byte", race=True),)),
    Mutation(
        "stage_not_awaited",
        "Rows in shared memory are read before all of them are stored there.",
        "rms_norm", PACKED,
        before="+ first, count); });\n    barrier();\n",
        after="+ first, count); });\n",
        runs=(Run("sizes", "f32", "report", output="race at byte", race=True, plan="many-rows"),)),
    Mutation(
        "stage_left_too_early",
        "Rows are stored to y before all results are in shared memory.",
        "softmax", PACKED,
        before="  HIPOPS_METHOD void store(const Streams& s, int64_t first, int count) {\n    barrier();\n",
        after="  HIPOPS_METHOD void store(const Streams& s, int64_t first, int count) {\n",
        runs=(Run("sizes", "bf16", "report", output="race at byte", race=True, plan="many-rows"),)),

    # ---- Reductions of several lanes
    Mutation(
        "last_step_of_a_wave_left_out",
        "An off-by-one in the number of lanes: the halves of a wave of 32 are not combined.",
        "rms_norm", WAVE,
        before="if constexpr (Width >= 32) v = op(",
        after="if constexpr (Width > 32) v = op(",
        runs=(Run("sizes", "f32"), Run("exact", "f16")),
        wave=32),
    Mutation(
        "partner_outside_the_wave",
        "The last lanes read from lanes that do not exist, and the executor reports it.",
        "softmax", WAVE,
        before="lane_index() ^ Half, wave_size",
        after="lane_index() + Half, wave_size",
        runs=(Run("smoke", "f32", "report", output="with the source lane 64"),)),

    # ---- Which elements
    Mutation(
        "only_the_first_row_of_a_block",
        "If rows share a block, all groups handle the first row.",
        "rms_norm", SHAPE,
        before="const int place = int(thread_index() >> lane_bits());",
        after="const int place = 0;",
        runs=(Run("smoke", "bf16"), Run("exact", "f32"))),
    Mutation(
        "groups_without_a_row_store",
        "A group past the last row repeats that row for the reductions, and must not store. In place it may have read "
        "results as input. Elsewhere the fault has no effect, because it stores equal values.",
        "rms_norm", RESULTS,
        before="const bool is_present = rows.has_row() && rows.contains(col);",
        after="const bool is_present = rows.contains(col);",
        runs=(Run("layouts", "f32", output="layout_in_place"),)),
    Mutation(
        "tail_not_stored",
        "The last vector of each row is not stored, and stays NaN.",
        "layer_norm", RESULTS,
        before="rows.has_row() && rows.contains(col);",
        after="rows.has_row() && rows.contains(col + n);",
        runs=(Run("smoke", "f32"), Run("exact", "bf16"))),
    Mutation(
        "tail_not_summed",
        "The last vector of each row is treated as if it were past the end.",
        "rms_norm", TILE,
        before="if (!rows.contains(rows.column(base, v)))",
        after="if (!rows.contains(rows.column(base, v) + kLength))",
        runs=(Run("exact", "f32"), Run("sizes", "f16"))),
    Mutation(
        "padding_counts",
        "Lanes past a row's end load its last vector, which must count once.",
        "softmax", TILE,
        before="      if (!rows.contains(rows.column(base, v))) of_vector[v] = O::template identity<W>();\n",
        after="",
        runs=(Run("smoke", "f16"), Run("exact", "f32"))),
    Mutation(
        "every_tile_is_the_first",
        "Each tile of a streamed row is stored in the place of the first tile.",
        "layer_norm", KERNEL,
        before="store_tile<Op, Shape>(a, tile, rows, base, result,",
        after="store_tile<Op, Shape>(a, tile, rows, 0, result,",
        runs=(Run("sizes", "f64"), Run("layouts", "bf16"))),
    Mutation(
        "first_elements_forgotten",
        "In a row that begins between two 16-byte boundaries, the elements before the first boundary are not loaded. "
        "Waves of 32 run NVIDIA's code.",
        "softmax", SHAPE,
        before="(i < head() ? i : -1)",
        after="-1",
        runs=(Run("layouts", "bf16"), Run("sizes", "f32")), wave=32),
    Mutation(
        "last_element_of_an_unaligned_row_lost",
        "The last element is in no vector. The last of the lanes for the row's ends should load it.",
        "fused_add_rms_norm", SHAPE,
        before="at < cols() ? at : -1",
        after="at < cols() - 1 ? at : -1",
        runs=(Run("layouts", "f32"),)),
    Mutation(
        "loads_shifted_by_words_alone",
        "Elements of 16 bits that begin in the middle of a word come from the element before.",
        "rms_norm", UNALIGNED,
        before="const uint32_t bits = sizeof(T) < 4 ? bytes % 4 * 8 : 0;",
        after="const uint32_t bits = 0;",
        runs=(Run("layouts", "bf16"),), wave=32),
    Mutation(
        "stores_shifted_by_the_loads_distance",
        "An output with another offset to 16 bytes is stored with the offset of the load. Waves of 32 run NVIDIA's "
        "code.",
        "fused_add_rms_norm", UNALIGNED,
        before="funnel(before, own, kWideBytes - ahead * int(sizeof(T)))",
        after="funnel(before, own, ahead * int(sizeof(T)))",
        runs=(Run("layouts", "f32", output="misaligned"),), wave=32),
    Mutation(
        "shifted_stores_with_the_next_lane",
        "An aligned vector needs elements of the lane before. They come from the lane after instead.",
        "fused_add_rms_norm", WAVE,
        before="(lane + Width - 1) % Width",
        after="(lane + 1) % Width",
        runs=(Run("layouts", "f32", output="misaligned"),), wave=32),
    Mutation(
        "shifted_stores_of_each_run_alone",
        "A run's first vector lacks the elements that the last lane kept from the run before.",
        "fused_add_rms_norm", UNALIGNED,
        before="lane == 0 && !is_first ? of_last_lane_ : of_lane_before",
        after="of_lane_before",
        runs=(Run("layouts", "f32", output="misaligned"),), wave=32),
    Mutation(
        "stores_past_the_end",
        "One vector too many is stored. The guard bytes behind the tensor and between strided rows show it.",
        "softmax", RESULTS,
        before="rows.has_row() && rows.contains(col);",
        after="rows.has_row() && rows.contains(col - n);",
        runs=(Run("sizes", "f32", output="wrote outside y"), Run("layouts", "bf16", output="between its elements"))),
    Mutation(
        "loads_past_the_end",
        "The loaded values are not used, so every number is right. Only an unmapped page behind the tensor shows it.",
        "softmax", SHAPE,
        before="return col < last ? col : last;",
        after="return col;",
        runs=(Run("sizes", "f32", "fault", guard="after"),)),
    Mutation(
        "stores_into_the_input",
        "Inputs are compared with their copies from before the call.",
        "softmax", RESULTS,
        before="const int stream = Op::kInputs + i;\n      if (Op::kOutputs > 1 && !rows.has_stream(stream)) continue;\n"
               "      const auto narrowed",
        after="const int stream = i;\n      const auto narrowed",
        runs=(Run("exact", "f32", output="changed its input"),)),
    Mutation(
        "second_pass_over_the_first_row",
        "Rows with very large elements are summed again, of scaled elements, which waves of 32 load again.",
        "rms_norm", SHAPE,
        before="again.locate(number_ >> 32 << 32 | low);",
        after="again.locate(0);",
        runs=(Run("adversarial", "f32"),), wave=32),
    Mutation(
        "stride_of_x_ignored",
        "Columns are loaded as if they were contiguous.",
        "rms_norm", TILE,
        before="Shape::kByElement ? col * rows.step(i) : col);",
        after="col);",
        runs=(Run("layouts", "f32"), Run("layouts", "f64"))),
    Mutation(
        "stride_of_y_ignored",
        "The same for stores. The pattern between strided elements shows it, too.",
        "softmax", RESULTS,
        before="to[col * rows.step(stream)] =",
        after="to[col] =",
        runs=(Run("layouts", "f32", output="wrote outside y: between its elements"),)),
    Mutation(
        "outer_strides_mixed_up",
        "Every outer dimension has the stride of the innermost outer dimension.",
        "softmax", SHAPE,
        before="rows * s_->outer[d].stride[i]",
        after="rows * s_->outer[0].stride[i]",
        runs=(Run("layouts", "f32", output="layout_permuted"),)),
    Mutation(
        "ends_of_a_stage_left_out",
        "In packed rows, the elements before the first 16-byte boundary and after the last one are not loaded.",
        "softmax", PACKED,
        before="    if (edge >= 0) elements_[edge] = from[edge - shift_];\n",
        after="",
        runs=(Run("sizes", "f32", plan="many-rows"), Run("sizes", "bf16", plan="many-rows"))),
    Mutation(
        "last_span_left_out",
        "The last span of a split row is not counted.",
        "rms_norm", PARTS,
        before="i < span.s_->spans; i += span",
        after="i + 1 < span.s_->spans; i += span",
        runs=(Run("sizes", "f32"), Run("sizes", "bf16"))),
    Mutation(
        "last_span_cut_off",
        "The last span should have the rest of the division of a row into spans.",
        "softmax", PARTS,
        before=": s_->cols; }",
        after=": begin_of(span + 1); }",
        runs=(Run("sizes", "f32"), Run("sizes", "bf16"))),
    Mutation(
        "parts_of_the_last_span",
        "Each block should read the partial results from its own span. Other blocks overwrite their spans, the last "
        "span first.",
        "softmax", PARTS,
        before="{*this, area_of(rows, begin),",
        after="{*this, area_of(rows, begin_of(s_->spans - 1)),",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "weight_of_the_next_vector",
        "Off by one vector in the index of the weights. The last vector is past their end, in a pattern or in an "
        "unmapped page.",
        "rms_norm", COLUMNS,
        before="load_packed<kLength>(data_ + at(v))",
        after="load_packed<kLength>(data_ + at(v) + kLength)",
        runs=(Run("exact", "f32"), Run("sizes", "bf16", "fault", guard="after"))),
    Mutation(
        "stride_of_weights_ignored",
        "The weights are loaded as if they were contiguous.",
        "layer_norm", COLUMNS,
        before="in->vector[v] = Vector<W, 1>{{data_[place(at(v))]}};",
        after="in->vector[v] = Vector<W, 1>{{data_[at(v)]}};",
        runs=(Run("layouts", "f32"),)),
    Mutation(
        "stride_of_f32_weights_ignored",
        "The same for weights of another type than the rows'.",
        "layer_norm", COLUMNS,
        before="Vector<f32, 1>{{data[place(col)]}}",
        after="Vector<f32, 1>{{data[col]}}",
        runs=(Run("layouts", "f16"),)),
    Mutation(
        "weights_never_asked_for",
        "The old contents of registers are used as the weights.",
        "fused_add_rms_norm", COLUMNS,
        before="kept_[v][i] = in.value(v);",
        after="static_cast<void>(in);",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "lanes_without_elements_count",
        "The partial result of a lane without elements is merged, too.",
        "fused_add_layer_norm", PARTS,
        before="if (in_lane == 0) own",
        after="if (false) own",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "f32_weights_taken_for_elements",
        "Weights in f32 are read as if they had x's type.",
        "layer_norm", "device/rows/columns.h",
        before="!Op::kUsual && is_f32_ != 0;",
        after="!Op::kUsual && is_f32_ < 0;",
        runs=(Run("smoke", "f16"), Run("exact", "bf16"), Run("layouts", "bf16"))),
    Mutation(
        "bias_out_of_nowhere",
        "A missing bias must add nothing.",
        "layer_norm", MOMENTS,
        before="return i == 0 ? 1 : 0;",
        after="return 1;",
        runs=(Run("smoke", "bf16"), Run("exact", "f16"))),
    Mutation(
        "zeros_for_ones",
        "A missing weight must be 1.",
        "layer_norm", MOMENTS,
        before="return i == 0 ? 1 : 0;",
        after="return 0;",
        runs=(Run("smoke", "bf16"), Run("exact", "f16"))),

    # ---- Formulas
    Mutation(
        "mean_left_in",
        "The mean is not subtracted.",
        "layer_norm", MOMENTS,
        before="fused_multiply_add(x[i] - high, scale, -low * scale), weight",
        after="fused_multiply_add(x[i], scale, -low * scale), weight",
        runs=(Run("smoke", "f32"), Run("smoke", "f64"))),
    Mutation(
        "mean_rounded_to_one_number",
        "The error exceeds the tolerance if x is close to the mean, or if the mean is large.",
        "layer_norm", MOMENTS,
        before="mean.high, mean.low, scale}",
        after="mean.high, 0 * mean.low, scale}",
        runs=(Run("adversarial", "f32"), Run("adversarial", "f64"), Run("adversarial", "bf16"),
              Run("adversarial", "f16"))),
    Mutation(
        "sums_rounded",
        "The rounding errors of a long sum are not kept.",
        "layer_norm", REDUCE,
        before="a.lost + b.lost + lost",
        after="a.lost + b.lost + 0 * lost",
        runs=(Run("adversarial", "f32"), Run("sizes", "f64")),
        wave=32),
    Mutation(
        "sums_in_f64_rounded",
        "The same for sums of f32 in f64.",
        "layer_norm", REDUCE,
        before="return WideSum(a.sum + b.sum);",
        after="return WideSum(double(C(a.sum + b.sum)));",
        runs=(Run("adversarial", "f32"), Run("adversarial", "bf16"))),
    Mutation(
        "moments_of_far_means",
        "The variance is computed from the sum of squares although the mean is many deviations from 0.",
        "layer_norm", MOMENTS,
        before="C(kVariances<T>) * squares",
        after="C(INFINITY)",
        runs=(Run("adversarial", "f32", output="huge_mean_1000"), Run("adversarial", "f16"))),
    Mutation(
        "mean_left_in_the_moments",
        "The mean of squares is used instead of the variance, in the kernel with one reduction.",
        "layer_norm", MOMENTS,
        before="fused_multiply_add(-mean.high * own.cols, mean.high, value_of(all.squares))",
        after="value_of(all.squares)",
        runs=(Run("adversarial", "f32", output="mean_of_0_4_deviations"), Run("adversarial", "f16"))),
    Mutation(
        "means_of_parts_taken_for_one",
        "The means of the parts of a row are used as if they were equal to the mean of the row.",
        "layer_norm", MOMENTS,
        before="p.squares * power * power + widened(apart);",
        after="p.squares * power * power + widened(0 * apart);",
        runs=(Run("adversarial", "f32"),)),
    Mutation(
        "variance_of_a_sample",
        "The sum is divided by n - 1, as in the variance of a sample.",
        "layer_norm", MOMENTS,
        before="value_of(row.squares) * terms.inverse_cols",
        after="value_of(row.squares) / (terms.cols - C(1))",
        runs=(Run("smoke", "f32"), Run("exact", "bf16"))),
    Mutation(
        "eps_left_out_of_layer_norm",
        "Ordinary rows of bf16 do not show it. Rows of small numbers do, and constant rows become NaN.",
        "layer_norm", MOMENTS,
        before="inverse_square_root(variance + (eps > least ? eps : least))",
        after="inverse_square_root(variance)",
        runs=(Run("exact", "f32", output="exact_eps"), Run("adversarial", "bf16"))),
    Mutation(
        "eps_left_out_of_rms_norm",
        "The same.",
        "rms_norm", RMS,
        before="terms.inverse_cols, terms.eps * power * power)",
        after="terms.inverse_cols, C(0))",
        runs=(Run("exact", "f32"), Run("adversarial", "bf16"))),
    Mutation(
        "range_of_a_norm_left_out",
        "A row whose squares overflow or underflow is not computed again with a scale: rows of 1e30 become 0.",
        "fused_add_rms_norm", RMS,
        before="      if (!in_range) squares = scaled, exponent = e;\n",
        after="",
        runs=(Run("adversarial", "f32", output="adversarial_large"),)),
    Mutation(
        "small_results_not_lifted",
        "A number that is normalized to a denormal has lost digits. A large weight shows it.",
        "fused_add_rms_norm", EXTREME_ROWS,
        before="is_lifted_denormal(lifted) ? lifted * (",
        after="false ? lifted * (",
        runs=(Run("adversarial", "f32", output="adversarial_small_by_large_weight"),)),
    Mutation(
        "one_more_left_out",
        "The weight is used instead of 1 + weight.",
        "fused_add_rms_norm", RMS,
        before="weight[i] += C(1);",
        after="weight[i] += C(0);",
        runs=(Run("exact", "bf16"),)),
    Mutation(
        "maximum_not_subtracted",
        "Results are right for small values. Exponentials of large values overflow.",
        "softmax", SOFTMAX,
        before="view.map(Exponential{reference});",
        after="view.map(Exponential{C(0)});",
        runs=(Run("adversarial", "f64"), Run("exact", "bf16"))),
    Mutation(
        "sum_not_rescaled",
        "Partial sums of a row are added as if all had the same maximum.",
        "softmax", SOFTMAX,
        before="return power(reference) / TileExponential<T>::kScale;",
        after="return reference == -C(INFINITY) ? C(0) : C(1);",
        runs=(Run("sizes", "f32"), Run("sizes", "bf16"))),
    Mutation(
        "difference_rounded",
        "The exponential uses the rounded x - max. For differences of some 20 the error exceeds the tolerance.",
        "topk_softmax", MATH,
        before="return fused_multiply_add(e, e > C(0) ? lost : C(0), e);",
        after="return e + C(0) * (e > C(0) ? lost : C(0));",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "power_by_one_number",
        "f64's exponentials use log2(e) as one number. For values of some 20 the error exceeds the tolerance.",
        "softmax", MATH,
        before="const double f = fused_multiply_add(d, kLog2Rest, fused_multiply_add(d, kLog2, kToInteger - n));",
        after="const double f = fused_multiply_add(d, 0 * kLog2Rest, fused_multiply_add(d, kLog2, kToInteger - n));",
        runs=(Run("adversarial", "f64"),)),
    Mutation(
        "rest_of_a_sum_forgotten",
        "f64 sums keep only multiples of 2^-34 of the largest element, and drop the rest.",
        "softmax", SOFTMAX,
        before="    return {high, v - high};\n",
        after="    return {high, 0 * (v - high)};\n",
        runs=(Run("smoke", "f64"),)),
    Mutation(
        "step_of_a_mask_ignored",
        "Elements of a strided mask are read as if they were neighbours.",
        "softmax_ext", TYPED,
        before="row + col * rows.typed_step(0)",
        after="row + col * int64_t(sizeof(E))",
        runs=(Run("layouts", "f32"),)),
    Mutation(
        "rows_of_a_mask_ignored",
        "All rows have the first row's mask, slope and sink.",
        "softmax_ext", SHAPE,
        before="more_[i] += rows * s_->outer[d].stride[Streams::kFirstTyped + i];",
        after="more_[i] += 0 * rows * s_->outer[d].stride[Streams::kFirstTyped + i];",
        runs=(Run("smoke", "f32"), Run("layouts", "bf16"))),
    Mutation(
        "sink_of_each_lane",
        "Each lane adds the row's sink to its own part.",
        "softmax_ext", KERNEL,
        before="return base == 0 && rows.rank() == 0;",
        after="return base == 0;",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "mask_times_slope",
        "A slope of 0 does not mask: its product with -inf is NaN.",
        "softmax_ext", "softmax_ext.hip",
        before="value[i] = is_masked ? kMasked : score;",
        after="value[i] = score;",
        runs=(Run("adversarial", "f32"),)),
    Mutation(
        "terms_of_a_row_left_out",
        "The sums of columns have the terms of a chunk's last row alone.",
        "rms_norm_backward", COLUMN_SUMS,
        before="      first += step;",
        after="      first += step;\n      if (first >= a.rows.rows) sums = LaneSums<Op::kSums, Shape>();",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "mean_of_a_tile",
        "A row's mean, which the caller does not pass, is the sum of the work-item's own elements.",
        "layer_norm_backward", COLUMN_SUMS,
        before="const Center sum = reduction(own, Sum());",
        after="const Center sum = own;",
        runs=(Run("smoke", "f32"), Run("sizes", "bf16"))),
    Mutation(
        "sums_mixed_up",
        "The second sum of a chunk is stored over the first.",
        "layer_norm_backward", COLUMN_SUMS,
        before="static_cast<C*>(to.partial) + (chunk * kSums + s) * to.pitch;",
        after="static_cast<C*>(to.partial) + (chunk * kSums + s / 2) * to.pitch;",
        runs=(Run("smoke", "f32"), Run("exact", "bf16"))),
    Mutation(
        "span_has_its_own_part",
        "A row of several spans has the part of one span.",
        "rms_norm_backward", COLUMN_SUMS,
        before="i < spans_; i +=",
        after="i < 1; i +=",
        runs=(Run("sizes", "bf16"), Run("sizes", "f64"))),
    Mutation(
        "edge_left_out_of_the_sums",
        "The sums of columns lack the elements at a row's ends.",
        "layer_norm_backward", COLUMN_SUMS,
        before="of_edge_[s] += terms[s][0];",
        after="of_edge_[s] += C(0) * terms[s][0];",
        runs=(Run("sizes", "f16"),)),
    Mutation(
        "sum_of_a_gradient_left_out",
        "The gradient of softmax is dy * y alone.",
        "softmax_backward", "softmax_backward.hip",
        before="(x[i].of[0] - row.sum)",
        after="(x[i].of[0] - C(0) * row.sum)",
        runs=(Run("smoke", "f32"), Run("exact", "bf16"))),
    Mutation(
        "inputs_apart_mixed_up",
        "Results of an op whose inputs stay apart have the first input's elements for all.",
        "log_softmax_backward", TILE,
        before="of_[s].widen_again(i);",
        after="of_[0].widen_again(i);",
        runs=(Run("smoke", "f32"), Run("smoke", "bf16"))),

    Mutation(
        "element_of_the_target_left_as_it_is",
        "The gradient at the target is that of the other elements.",
        "cross_entropy", "cross_entropy.hip",
        before="of_element) - found.dloss * terms.of_target,",
        after="of_element),",
        runs=(Run("smoke", "f32"), Run("sizes", "bf16"))),
    Mutation(
        "target_changes_its_mirror_image",
        "The gradient at the target is that of the vector's element as far from the vector's other end.",
        "cross_entropy", "device/rows/results.h",
        before=" : at] = narrow_results",
        after=" : at / n * n + n - 1 - at % n] = narrow_results",
        runs=(Run("sizes", "bf16"),)),
    Mutation(
        "first_lane_stores_the_loss",
        "The loss is made of a load of the target's element that no order places before the store of its gradient. The change "
        "without the fault leaves only the load of the lane that stores the gradient.",
        "cross_entropy", "device/rows/results.h",
        before="if (row.target >= 0) stores = has_named(rows, 0, row.target);",
        after="stores = stores && row.target >= -1;",
        runs=(Run("sizes", "f32"), Run("sizes", "bf16")),
        small=(Change(KERNEL, "    load_element<Op>(a, rows, first, found);\n    tile",
                      "    load_element<Op>(a, rows, first, found);\n"
                      "    if constexpr (Op::kLooksUp && (Shape::kInCluster || Shape::kRowsPerBlock > 1)) {\n"
                      "      if (!has_named(rows, 0, found.target)) found.element = {};\n    }\n    tile"),)),
    Mutation(
        "target_of_the_row_before",
        "A prefetched row has the target of the row before.",
        "cross_entropy", KERNEL,
        before="      found = found_ahead;",
        after="      (void)found_ahead;",
        runs=(Run("sizes", "f32", plan="repeat 3", case="rows_of_4100_vectors_f32_no_lse"),)),
    Mutation(
        "target_of_another_row_in_memory",
        "A row in memory has the target of the row before.",
        "cross_entropy", KERNEL,
        before="    auto found = look_up_in_memory<Op, Shape>(args, first);",
        after="    auto found = look_up_in_memory<Op, Shape>(args, first > 0 ? first - 1 : first);",
        runs=(Run("sizes", "f32"), Run("layouts", "f32"))),
    Mutation(
        "ignored_row_has_a_loss",
        "A row that is left out has the loss of its first class.",
        "cross_entropy", "cross_entropy.hip",
        before="is_left_out ? C(0) : fused",
        after="is_left_out && false ? C(0) : fused",
        runs=(Run("smoke", "f16"),)),
    Mutation(
        "smoothed_sum_keeps_its_reference",
        "The sum of differences from the maximum is not moved to the maximum of all tiles.",
        "cross_entropy", "cross_entropy.hip",
        before="C(n) * (reference - finite(p.maximum))",
        after="C(0) * (reference - finite(p.maximum))",
        runs=(Run("sizes", "f64"), Run("layouts", "f32"))),

    # ---- Index ops and copies
    Mutation(
        "digit_read_in_part",
        "Indices whose digits differ only in an odd bit are stored in each other's places. Other places are not "
        "written.",
        "index_add", RADIX,
        before="lanes_with_other_bit(digit(n), bit + next)",
        after="lanes_with_other_bit(digit(n), bit + next / 2 * 2)",
        runs=(Run("sizes", "f32", "fault", plan="ordered"), Run("indices", "u8", "fault", plan="ordered"))),
    Mutation(
        "order_not_kept",
        "Sources of a row are added in the reverse order of their lanes: not the sum that is promised.",
        "index_add", RADIX,
        before="earlier = peers & lanes_below();",
        after="earlier = peers & ~lanes_below() & ~(LaneMask(1) << lane_index());",
        runs=(Run("sizes", "f32", plan="ordered"), Run("smoke", "f32", plan="ordered"))),
    Mutation(
        "earlier_waves_not_counted",
        "Each wave stores a digit's entries from the digit's first place on, over the entries of earlier waves.",
        "index_add", RADIX,
        before="] = uint16_t(total);",
        after="] = 0;",
        runs=(Run("smoke", "f16", "fault", plan="ordered"), Run("exact", "u8", "fault"))),
    Mutation(
        "ranks_not_awaited",
        "A work-item adds the counts of all waves while other waves still count.",
        "index_add", RADIX,
        before="  batch->rank_by_digit(tally, shift, bits);\n  barrier();\n",
        after="  batch->rank_by_digit(tally, shift, bits);\n",
        runs=(Run("smoke", "f32", "report", output="race at byte", race=True, plan="ordered"),)),
    Mutation(
        "first_run_of_a_wave_passed",
        "If a run of entries begins at a wave's first place, the wave uses the number of the next run.",
        "index_add", SORTED_SOURCES,
        before=" - uint32_t(ballot(begins[0]) & 1)",
        after="",
        runs=(Run("sizes", "f32", "fault", plan="ordered"),)),
    Mutation(
        "blocks_in_one_place",
        "Each block stores a digit's entries to the digit's first place, over the entries of earlier blocks.",
        "index_add", RADIX_PASSES,
        before="if (first + n < blocks) counts[first + n] = before;",
        after="if (first + n < blocks) counts[first + n] = 0;",
        runs=(Run("adversarial", "f32", "fault"), Run("adversarial", "f16", "fault"))),
    Mutation(
        "wave_of_one_row_counted_once",
        "If all sources of a wave are of one row, they count as one source.",
        "index_add", RADIX_PASSES,
        before="count.fetch_add(digit, is_one ? wave_size : 1);",
        after="count.fetch_add(digit, 1);",
        runs=(Run("adversarial", "f32"), Run("adversarial", "f16"))),
    Mutation(
        "digits_not_apart",
        "Entries of a digit move as far as the entries of the digit before, so that some are stored over others.",
        "index_add", RADIX_PASSES,
        before="distance[digit] = to - start;",
        after="distance[digit] = to - start - (digit & 1);",
        runs=(Run("sizes", "f32", "fault", plan="ordered"), Run("adversarial", "f16", "fault"))),
    Mutation(
        "first_element_of_a_value",
        "If an entry has the elements of its row, all of them are the first.",
        "index_add", SEGMENTED_SUM,
        before="sources[i] >> (8 * sizeof(T) * vector)",
        after="sources[i]",
        runs=(Run("sizes", "u8"), Run("adversarial", "f16"))),
    Mutation(
        "batches_in_one_place",
        "Each batch of a digit's entries is copied over the batch before.",
        "index_add", SORTED_SOURCES,
        before="next[digit] = uint32_t(next[digit]) + past - start_of[digit];",
        after="",
        runs=(Run("adversarial", "f32", "fault", case="adversarial_frequent_17000_f32_i32_workspace"),)),
    Mutation(
        "long_row_kept",
        "A block that joins sums a row of 129 sources itself, without chunks.",
        "index_add", SORTED_SOURCES,
        before="if (count > kChunk) long_rows",
        after="if (count > kChunk + 5) long_rows",
        runs=(Run("adversarial", "f32", case="adversarial_chunks_among_others_6000_f32_u8_workspace"),)),
    Mutation(
        "entries_in_one_place",
        "Blocks that join and sum store the entries that they do not keep over each other.",
        "index_add", SORTED_SOURCES,
        before="reserved[0] = atomic_fetch_add(s.entries, entries);",
        after="reserved[0] = 0 * atomic_fetch_add(s.entries, entries);",
        runs=(Run("adversarial", "f32", "fault", plan="ordered",
                  case="adversarial_chunks_among_others_6000_f32_u8_workspace"),)),
    Mutation(
        "first_part_only",
        "Blocks that divide the vectors of a row all sum its first part.",
        "index_add", SEGMENTED_SUM,
        before="first_vector_(part * args.segments.part_vectors)",
        after="first_vector_(part * 0)",
        runs=(Run("sizes", "u32", plan="ordered"),)),
    Mutation(
        "one_element_by_row",
        "If neighbouring lanes sum neighbouring rows, they sum only the first element of each.",
        "index_add", SEGMENTED_SUM,
        before="vector = claimed / lanes;",
        after="vector = 0;",
        runs=(Run("sizes", "f32", plan="ordered"),)),
    Mutation(
        "rows_without_sources_listed",
        "A block that joins and sums also lists rows without sources.",
        "index_add", SEGMENTED_SUM,
        before="i < rows && sources != 0 && (sources * rows > entries)",
        after="i < rows && (sources * rows > entries)",
        runs=(Run("sizes", "f32", "fault", plan="ordered"),)),
    Mutation(
        "last_source_left_out",
        "A block that joins and sums leaves out each row's last source, unless it is the only one.",
        "index_add", SEGMENTED_SUM,
        before="Chunk::of(begin, sources, true, true)",
        after="Chunk::of(begin, sources - (sources > 1), true, true)",
        runs=(Run("sizes", "f32", plan="ordered"), Run("exact", "f16", plan="ordered"))),
    Mutation(
        "sources_far_before_not_counted",
        "If a row begins more than a chunk before a block's first entry, the block counts one chunk before it.",
        "index_add", SEGMENTED_SUM,
        before="? first - first_of_key(a.sort.sorted, first) : sources;",
        after="? kChunk : sources;",
        runs=(Run("adversarial", "f32"), Run("exact", "u8"))),
    Mutation(
        "sources_before_not_counted",
        "A block counts one source of a row before its first entry, so that it begins chunks at wrong places.",
        "index_add", SEGMENTED_SUM,
        before="ballot(i < lead && key(i) == key(lead))",
        after="ballot(i + 1 == lead && key(i) == key(lead))",
        runs=(Run("adversarial", "f32"), Run("exact", "u8"))),
    Mutation(
        "one_slot_for_two_chunks",
        "A row's last chunk and another row's first chunk store their sums in the same place.",
        "index_add", SEGMENTED_SUM,
        before="return place / kChunk * 2 + uint32_t(is_last);",
        after="return place / kChunk * 2;",
        runs=(Run("adversarial", "f32"), Run("exact", "f16"))),
    Mutation(
        "chunk_sums_of_one_vector",
        "The sums of each vector of a chunk are stored over those of the first vector.",
        "index_add", SEGMENTED_SUM,
        before="(slot * a.walk.count + vector) * Length",
        after="slot * a.walk.count * Length",
        runs=(Run("adversarial", "f32"),)),
    Mutation(
        "counters_not_cleared",
        "The counters of chunks begin with what the workspace has.",
        "index_add", SORT_TILE,
        before="a.segments.counters[int64_t(first / kChunk) * parts + i] = 0;",
        after=";",
        runs=(Run("adversarial", "f32"), Run("adversarial", "f16"))),
    Mutation(
        "no_block_is_last",
        "The chunks of a row are counted, but no block finds that it has counted the last.",
        "index_add", SEGMENTED_SUM,
        before="return now.chunks == all ? now.known : 0;",
        after="return now.chunks > all ? now.known : 0;",
        runs=(Run("adversarial", "f32"), Run("exact", "u8"))),
    Mutation(
        "group_taken_for_row",
        "The block that adds a row's first 128 chunks stores their sum to y.",
        "index_add", SEGMENTED_SUM,
        before="known = number + 1 + uint32_t(!is_last);",
        after="known = number + 1;",
        runs=(Run("adversarial", "f32"), Run("adversarial", "f16"))),
    Mutation(
        "group_sums_not_stored",
        "The sums of groups are added, but not stored for the sum of the groups.",
        "index_add", SEGMENTED_SUM,
        before="sum_of(group) = sum;",
        after="",
        runs=(Run("adversarial", "f32"),)),
    Mutation(
        "last_block_not_awaited",
        "Waves add chunk sums before the block knows whether all blocks have stored theirs.",
        "index_add", SEGMENTED_SUM,
        before="        acquire_from_device();\n      }\n      barrier();\n",
        after="        acquire_from_device();\n      }\n",
        runs=(Run("adversarial", "f32", "report", output="race at byte", race=True),)),
    Mutation(
        "first_source_instead_of_y",
        "A row's sum starts with its first source, not with y's element.",
        "index_add", "device/index/running_sum.h",
        before="n == 0 && first == 0 ? y : at",
        after="at",
        runs=(Run("sizes", "f32", plan="ordered"), Run("smoke", "bf16", plan="ordered"))),
    Mutation(
        "keys_over_the_ones_before",
        "A work-item that finds several indices stores each over the previous index.",
        "index_add", "device/index/row_bucket.h",
        before="own &= own - 1, ++to) {",
        after="own &= own - 1) {",
        runs=(Run("sizes", "f32", "fault"),)),
    Mutation(
        "list_read_too_early",
        "Waves search a list that other waves are still writing.",
        "index_add", "device/index/row_bucket.h",
        before="    if (has_room) order();\n    barrier();\n",
        after="    if (has_room) order();\n",
        runs=(Run("sizes", "f32", "report", output="race at byte", race=True),)),
    Mutation(
        "keys_by_row_alone",
        "All indices that name a row are stored in one place of the list.",
        "index_add", "device/index/row_bucket.h",
        before="before += found_[other] < own;",
        after="before += uint64_t(found_[other]) >> 32 < own >> 32;",
        runs=(Run("indices", "f32", "fault"),)),
    Mutation(
        "row_of_every_index",
        "Each index of a row adds all of the row's sources, not only the first index.",
        "index_add", "device/index/row_bucket.h",
        before="return row_of(keys_[entry]) != row(entry); }",
        after="return true; }",
        runs=(Run("indices", "f32"), Run("sizes", "u8"))),
    Mutation(
        "rows_of_no_bucket",
        "Each block handles the next block's rows, so the first block's rows get no sources.",
        "index_add", "device/index/row_bucket.h",
        before="least_ = number * hashes;",
        after="least_ = (number + 1) * hashes;",
        runs=(Run("sizes", "f32"),)),
    Mutation(
        "rows_behind_a_crowd_left_out",
        "After the rows before a crowded row, the block stops.",
        "index_add", "device/index/row_bucket.h",
        before="rows = before_crowded ? 1 : all_rows - row;",
        after="rows = before_crowded ? 0 : all_rows - row;",
        runs=(Run("adversarial", "f32", case="adversarial_long_list_2600_f32_i16"),)),
    Mutation(
        "parts_not_mirrored",
        "Two sorted parts are merged without reversing the second part.",
        "index_add", "device/index/row_bucket.h",
        before="uint32_t mirror = 2 * merged - 1;",
        after="uint32_t mirror = merged;",
        runs=(Run("adversarial", "f32", case="adversarial_long_list_1200_f32_i16"),)),
    Mutation(
        "pairs_not_awaited",
        "Keys are compared while other work-items are still exchanging them.",
        "index_add", "device/index/row_bucket.h",
        before="        barrier();\n        mirror = half / 2;",
        after="        mirror = half / 2;",
        runs=(Run("adversarial", "f32", "report", output="race at byte", race=True,
                  case="adversarial_long_list_1200_f32_i16"),)),
    Mutation(
        "crowded_row_past_its_sources",
        "The values that groups load after the last source are added too.",
        "index_add", "index_add.hip",
        before="const uint32_t sources = count - first < staged ? count - first : staged;",
        after="const uint32_t sources = staged;",
        runs=(Run("adversarial", "f32", case="adversarial_long_list_1200_f32_i16"),)),
    Mutation(
        "crowded_row_not_awaited",
        "The next sources of a crowded row overwrite the previous sources before these are added.",
        "index_add", "index_add.hip",
        before="      else chunk_sums_[chunk * elements + element] = sum;\n    }\n    barrier();",
        after="      else chunk_sums_[chunk * elements + element] = sum;\n    }",
        runs=(Run("adversarial", "f32", "report", output="race at byte", race=True,
                  case="adversarial_long_list_1200_f32_i16"),)),
    Mutation(
        "crowded_row_added_twice",
        "A group of lanes adds a crowded row, which all of the block adds afterwards.",
        "index_add", "index_add.hip",
        before="!bucket_.is_first_of_row(entry) || bucket_.has_more(entry, most)",
        after="!bucket_.is_first_of_row(entry)",
        runs=(Run("adversarial", "f32", case="adversarial_chunks_of_23_5000_f32_i32"),)),
    Mutation(
        "only_last_chunk_stored",
        "A crowded row gets the sum of its last chunk, without the chunks before.",
        "index_add", "index_add.hip",
        before="if (kShowsOrder && chunks.full != 0) add_chunks",
        after="if (false) add_chunks",
        runs=(Run("adversarial", "f32", case="adversarial_chunks_one_row_300_f32_u8"),)),
    Mutation(
        "each_chunk_with_the_sum_before",
        "Each chunk that a block adds of a crowded row starts from the sum before, which is counted again.",
        "index_add", "index_add.hip",
        before="Sum sum = chunk == 0 ? Sum(parked_[place_of(element)]) : Sum(0);",
        after="Sum sum = Sum(parked_[place_of(element)]);",
        runs=(Run("adversarial", "f32", case="adversarial_chunks_one_row_300_f32_u8"),)),
    Mutation(
        "one_level_of_chunks",
        "A full group of chunks stays on its level, and the next group's sum overwrites it.",
        "index_add", "device/index/chunk_sums.h",
        before="if (before % kChunk != kChunk - 1) return;",
        after="return;",
        runs=(Run("adversarial", "f32", case="adversarial_chunks_one_row_16385_f32_u8"),)),
    Mutation(
        "few_added_by_each",
        "With few indices, every wave adds the sources of its index's row, not only the wave of the first such index.",
        "index_add", "index_add.hip",
        before="if (row == kNothing || first != place_) return;",
        after="if (row == kNothing) return;",
        runs=(Run("smoke", "f16"), Run("layouts", "f32"))),
    Mutation(
        "few_reported_by_each_part",
        "With few indices, an index out of range is counted once for each part of its row.",
        "index_add", "index_add.hip",
        before="reports_ = i == 0;",
        after="reports_ = lane_index() == 0;",
        runs=(Run("indices", "f32"), Run("indices", "bf16"))),
    Mutation(
        "few_sources_not_awaited",
        "With few indices, a lane reads the places of a row's sources while other lanes still write them.",
        "index_add", "index_add.hip",
        before="      before += uint32_t(count_bits(same[n]));\n    }\n    wave_barrier();",
        after="      before += uint32_t(count_bits(same[n]));\n    }",
        runs=(Run("sizes", "f32", "fault"), Run("smoke", "f16", "fault"))),
    Mutation(
        "few_counted_past_the_end",
        "With few indices, lanes past the last index read the last index, and count it.",
        "index_add", "index_add.hip",
        before="ballot(n * wave_size + lane_index() < a.indices && value[n] == value[kLoads])",
        after="ballot(value[n] == value[kLoads])",
        runs=(Run("sizes", "f32", "fault", guard="after"), Run("smoke", "f16"))),
    Mutation(
        "windows_of_one_place",
        "If an index has several windows, later windows use the sources of the first window.",
        "index_add", "index_add.hip",
        before="x_ + window.first * a.x_step",
        after="x_",
        runs=(Run("adversarial", "f32", race=True, case="adversarial_long_list_2600_f32_i16"),),
        small=SMALL_WINDOWS),
    Mutation(
        "rows_of_other_buckets_stored",
        "A row that a window before has named counts as named, also where it is another block's.",
        "index_add", "index_add.hip",
        before="    if (!is_first) chunks = {chunks_[0], chunks_[1]};",
        after="    chunks = {chunks_[0], chunks_[1]};",
        runs=(Run("adversarial", "f32", case="adversarial_long_list_2600_f32_i16"),),
        small=SMALL_WINDOWS),
    Mutation(
        "index_out_of_range_taken",
        "x is read at an index far below 0.",
        "gather", "device/index/indices.h",
        before="if (uint64_t(value) < uint64_t(index.size)) return value;",
        after="if (value < index.size) return value;",
        runs=(Run("indices", "f32", "fault"),)),
    Mutation(
        "few_units_past_the_end",
        "The last block of few units stores a unit past the end of y.",
        "gather", "device/move/take.h",
        before="  if (i >= a.walk.count) return;\n",
        after="  if (i > a.walk.count) return;\n",
        runs=(Run("smoke", "f32", output="wrote outside y"), Run("sizes", "u8", output="wrote outside y"))),
    Mutation(
        "few_units_copied_past_the_end",
        "The same for a copy.",
        "strided_copy", "strided_copy.hip",
        before="  if (i >= a.walk.count) return;\n",
        after="  if (i > a.walk.count) return;\n",
        runs=(Run("smoke", "f32", output="wrote outside y"), Run("sizes", "u8", output="wrote outside y"))),
    Mutation(
        "few_out_of_range_not_reported",
        "With few units, indices out of range give zeros, but are not counted.",
        "index_select", "device/move/take.h",
        before="  const int64_t from = source_of(a, at, i, 1, true);\n  T moved{};",
        after="  const int64_t from = source_of(a, at, i, 1, false);\n  T moved{};",
        runs=(Run("indices", "f32"), Run("indices", "u8"))),
    Mutation(
        "staged_ends_left_out",
        "In staged rows, the elements before the first 16-byte boundary and after the last one are not loaded.",
        "gather", "device/move/staged_chunk.h",
        before="    if (edge >= 0) elements_[edge] = at_edge;\n",
        after="",
        runs=(Run("sizes", "f32"), Run("sizes", "u8"))),
    Mutation(
        "more_than_the_launch_brings",
        "A kernel uses more shared memory than the launch has. On a GPU it would use the memory after it.",
        "gather", "device/move/take_staged.h",
        before="static_or_launch_shared<b128, kStagedBytes / kWideBytes>(vectors)",
        after="static_or_launch_shared<b128, kStagedBytes / kWideBytes>(vectors + 1)",
        runs=(Run("sizes", "f32", ends="report", output="from the launch, which brings"),)),
    Mutation(
        "panels_overlap_counted_twice",
        "For columns in two panels, both panels report indices out of range.",
        "gather", "device/move/take_staged.h",
        before="const bool counts = col >= chunk.overlap && (a.shared.run == 0 || line == 0);",
        after="const bool counts = a.shared.run == 0 || line == 0;",
        runs=(Run("sizes", "f32"), Run("sizes", "u16"))),
    Mutation(
        "panels_past_the_end",
        "The last panel of columns begins at the end of the panel before, although too few columns are left.",
        "gather", "device/move/take_staged.h",
        before="const int32_t overlap = s.overlap != 0 && is_last_panel(s, r) ? s.overlap : 0;",
        after="const int32_t overlap = 0;",
        runs=(Run("sizes", "u16"),)),
    Mutation(
        "ratio_of_f64_in_f32",
        "Positions for candle, which computes in f64, are computed as for PyTorch.",
        "upsample_nearest2d", "device/move/upsample.h",
        before="return floor_to(double(i) * d.ratio64, I(d.last));",
        after="return floor_to(float(i) * d.ratio32, I(d.last));",
        runs=(Run("sizes", "f16", plan="many-rows"),)),
    Mutation(
        "ratio_of_f64_in_f32_by_periods",
        "The same for a y without gaps.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="const int32_t whole = int32_t(position * ratio_of(d, F()));",
        after="const int32_t whole = int32_t(float(position) * d.ratio);",
        runs=(Run("adversarial", "u8"),)),
    Mutation(
        "periods_without_channels",
        "In periods with channels innermost, the places of elements ignore the channels.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="if (p.channels != 1) {",
        after="if (false) {",
        runs=(Run("exact", "u8"),)),
    Mutation(
        "vectors_without_channels",
        "The same for vectors.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="else if (p.channels == 1) move_vector",
        after="else if (true) move_vector",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_without_a_rest",
        "The elements behind the last whole vector are not stored.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="if (number[0] < p.last_elements)",
        after="if (false)",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_of_one_line",
        "A vector's elements beyond the end of a line are loaded from the same line.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="from = beyond ? next : here;",
        after="from = here;",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_past_the_line",
        "The columns of the next line continue the count of the line before.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="(beyond ? at_next : at)",
        after="at",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_of_f64_in_f32",
        "Positions of vectors for candle, which computes in f64, are computed as for PyTorch.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="if (__builtin_expect(p.in_f64, 0)) move_vector",
        after="if (false) move_vector",
        runs=(Run("adversarial", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_of_one_plane",
        "After a plane's last line, the first line of the same plane is used.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="(ends ? plane + 1 : plane) * p.plane_stride",
        after="plane * p.plane_stride",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_of_the_first_period",
        "All periods of y are loaded from the first period of x.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="static_cast<const T*>(a.x) + period * p.x_step",
        after="static_cast<const T*>(a.x)",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "vectors_of_the_same_period",
        "A work-item's second period of y is loaded from its first period of x.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="k < periods ? x + k * p.x_step : x",
        after="x",
        runs=(Run("exact", "u8", plan="many-rows"),)),
    Mutation(
        "few_pixels_past_the_end",
        "With few units, work-items past the last unit store their values.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="if (at < count) static_cast<T*>(a.y)[at] = value[n];",
        after="static_cast<T*>(a.y)[at] = value[n];",
        runs=(Run("smoke", "f32", "fault", guard="after"), Run("exact", "u8", "fault", guard="after"))),
    Mutation(
        "few_pixels_from_past_the_end",
        "The same work-items load from the place of the next planes.",
        "upsample_nearest2d", "device/move/upsample_periods.h",
        before="    if (i[n] >= count) i[n] = count - 1;",
        after="    if (false) i[n] = count - 1;",
        runs=(Run("smoke", "f32", "fault", guard="after"), Run("exact", "u8", "fault", guard="after"))),
    Mutation(
        "tile_read_too_early",
        "A transpose reads its tile in shared memory while other waves still write it.",
        "strided_copy", "strided_copy.hip",
        before="tile[(line + r * Tile::kLines) * Tile::kPitch + lane] = value[r];\n    barrier();",
        after="tile[(line + r * Tile::kLines) * Tile::kPitch + lane] = value[r];",
        runs=(Run("sizes", "f32", "report", output="race at byte", race=True, plan="many-rows"),
              Run("sizes", "f32", plan="many-rows"))),

    # ---- Maps
    Mutation(
        "map_tail_left_out",
        "The elements after a run's last vector are not computed.",
        "activation_and_mul", MAP,
        before="if (thread < map.tail)",
        after="if (false)",
        runs=(Run("sizes", "bf16", output="size_"),)),
    Mutation(
        "map_stores_at_the_next_round",
        "A result is stored at the place of the vector that is loaded for the next round.",
        "activation_and_mul", MAP,
        before="store_vector_as_one<n>(y + here.of[k], v)",
        after="store_vector_as_one<n>(y + at.of[k], v)",
        runs=(Run("sizes", "bf16", plan="many-rows"),)),
    Mutation(
        "map_first_elements_of_a_row_left_out",
        "The elements of an unaligned row before its first vector are replaced by elements after its last.",
        "activation_and_mul", UNALIGNED,
        before="i < begin ? i : i + vectors * kLength",
        after="i + vectors * kLength",
        runs=(Run("layouts", "bf16", output="misaligned"),), wave=32),
    Mutation(
        "map_last_elements_left_out",
        "A work-item loads several elements at any strides, and stores only the first.",
        "activation_and_mul", MAP,
        before="if (d == 0 || place[d] != i)",
        after="if (d == 0)",
        runs=(Run("sizes", "f16", output="size_elements"),)),
    Mutation(
        "map_small_powers_lost",
        "e^x has few digits below 2^-126, and none below 2^-149.",
        "activation_and_mul", ACTIVATION,
        before="const bool is_small = x < -80.0f;",
        after="const bool is_small = false;",
        runs=(Run("adversarial", "f32", output="large_silu"),)),
    Mutation(
        "map_argument_of_a_sigmoid_rounded",
        "The rounding error of a sigmoid's argument is ignored, which e^x turns into many ULPs.",
        "activation_and_mul", ACTIVATION,
        before="float rest = size < 256.0f ? e.power * x.rest : 0.0f;",
        after="float rest = 0.0f;",
        runs=(Run("adversarial", "f32", output="gelu_tanh"),)),
    Mutation(
        "map_square_of_gelu_rounded",
        "The same for the square in gelu's e^(-x^2/2).",
        "activation_and_mul", ACTIVATION,
        before="fused_multiply_add(phi.value, -0.5f * rest, phi.rest)",
        after="phi.rest",
        runs=(Run("adversarial", "f32", output="one_gelu_f32"),)),
    Mutation(
        "map_limit_of_one_side",
        "A limit clamps up from above only.",
        "activation_and_mul", "activation_and_mul.hip",
        before="x[1][i] < -a.limit ? -a.limit : x[1][i]",
        after="x[1][i]",
        runs=(Run("smoke", "f16", output="limit"),)),
    Mutation(
        "map_absent_output_stored",
        "Of two outputs, one that the caller leaves out is stored over the other.",
        "activation_and_mul_backward", MAP,
        before="map.present >> k & 1",
        after="true",
        runs=(Run("smoke", "f32", output="without_dup"),)),
    Mutation(
        "slope_of_swish_from_rounded_sigmoid",
        "1 + x * sigmoid(-x) is computed without the rest of sigmoid(-x).",
        "activation_backward", GRADIENT,
        before="fused_multiply_add(w.value, of_other, 1.0f) + fused_multiply_add(w.value, rest, w.rest * of_other)",
        after="fused_multiply_add(w.value, of_other, 1.0f) + 0.0f * rest",
        runs=(Run("adversarial", "f32", output="gelu_tanh"),)),
    Mutation(
        "slope_of_gelu_without_density",
        "The derivative of gelu is Phi(x) alone, far from 0.",
        "activation_backward", GRADIENT,
        before="const float difference = tail.value - line.value,",
        after="const float difference = tail.value - 0.0f * line.value,",
        runs=(Run("layouts", "f32", output="gelu"),)),
    Mutation(
        "slope_of_far_arguments_infinite",
        "An infinite argument of a sigmoid is multiplied by 0.",
        "activation_backward", GRADIENT,
        before="if (!(fabsf(u.value) < 256.0f)) w =",
        after="if (false) w =",
        runs=(Run("adversarial", "bf16", output="silu"),)),
    Mutation(
        "limit_without_zero",
        "The gradient of a number that the limit replaces is not 0.",
        "activation_and_mul_backward", "activation_and_mul_backward.hip",
        before="y[1][i] = fabsf(x[2][i]) < b.limit ? y[1][i] : 0.0f;",
        after="",
        runs=(Run("smoke", "f16", output="limit"),)),

    Mutation(
        "quantised_past_a_row",
        "A row's last vector begins at a multiple of eight, and ends past the row.",
        "static_quantize", "static_quantize.hip",
        before="next.back = past > 0 ? int32_t(past) : 0;",
        after="next.back = 0;",
        runs=(Run("sizes", "f16", "fault", guard="after"),)),
    Mutation(
        "quantised_by_the_inverse",
        "x * (1 / scale) replaces x / scale.",
        "static_quantize", FLOAT8,
        before="x[i] = fused_multiply_add(x[i], inverse_, x[i] * rest_);",
        after="x[i] = x[i] * inverse_;",
        runs=(Run("exact", "f32", output="exact_ties"),)),
    Mutation(
        "quantised_zero_with_a_sign",
        "-0 becomes NaN in the fnuz types, which have no -0.",
        "static_quantize", FLOAT8,
        before="const uint32_t has_sign = (code + 0x7f) | f.negative_zero;",
        after="const uint32_t has_sign = 0x80;",
        runs=(Run("adversarial", "f32", output="fnuz"),)),
    Mutation(
        "quantised_ties_up",
        "A number between two values is rounded up, and not to the even code.",
        "static_quantize", FLOAT8,
        before="bit_cast<uint32_t>(bit_cast<float>(magnitude) + bit_cast<float>(grid))",
        after="bit_cast<uint32_t>(bit_cast<float>(magnitude + 1) + bit_cast<float>(grid))",
        runs=(Run("exact", "f16", output="exact_values"),)),

    Mutation(
        "quantised_nan_left_out",
        "The largest magnitude of a row is the largest number, and a NaN is ignored.",
        "dynamic_quantize", "dynamic_quantize.hip",
        before="return bit_cast<int32_t>(x) & INT32_MAX;",
        after="return x == x ? bit_cast<int32_t>(x) & INT32_MAX : 0;",
        runs=(Run("adversarial", "bf16", output="adversarial_rows"),)),
    Mutation(
        "quantised_without_least_scale",
        "A row of zeros has the scale 0, and its elements become NaN.",
        "dynamic_quantize", "dynamic_quantize.hip",
        before="scale < a.least ? a.least : scale",
        after="scale",
        runs=(Run("adversarial", "f32", output="adversarial_rows"),)),

    # ---- Selections
    Mutation(
        "selection_zeros_apart",
        "-0 is less than +0, so a later +0 is selected before it.",
        "topk", "device/select/keys.h",
        before="    if (key == kSign - 1) key = kSign;\n",
        after="",
        runs=(Run("exact", "f32", output="exact_zeros"),)),
    Mutation(
        "selection_ties_of_each_lane",
        "A list without room counts a lane's equal elements without the elements of earlier lanes.",
        "topk", "device/select/block_rows.h",
        before="equal = s.before >> 16;",
        after="equal = 0;",
        runs=(Run("exact", "f32", output="exact_"),)),
    Mutation(
        "selection_bound_too_high",
        "Fewer than k groups of the first tile reach the bound, and elements below it are lost.",
        "topk", "device/select/block_rows.h",
        before="above_ = bound == 0 ? 0 : bound - 1;",
        after="above_ = bound;",
        runs=(Run("exact", "f16", output="exact_"),)),
    Mutation(
        "selection_read_before_it_is_stored",
        "Results are loaded from the list before all work-items have appended to it.",
        "topk", "device/select/block_rows.h",
        before="      reduce();\n    }\n    barrier();\n",
        after="      reduce();\n    }\n",
        runs=(Run("sizes", "f32", "report", output="race at byte", race=True),)),
    Mutation(
        "selection_runs_merged_unstably",
        "Equal elements of different runs get one rank.",
        "topk", "device/select/many.h",
        before="(other[n] == key && first + n < own)",
        after="(other[n] == key && false)",
        runs=(Run("exact", "f32", case="exact_two_5000_k_2500_f32_i64_smallest_sorted"),)),
    Mutation(
        "selection_absent_before_nan",
        "The entry of an absent element equals that of a NaN, which is in a later part.",
        "topk", "device/select/block_rows.h",
        before="SortEntry{UINT32_MAX, kNoColumn}",
        after="SortEntry{UINT32_MAX - 1, kNoColumn}",
        runs=(Run("adversarial", "f32", output="adversarial_last_of_parts"),)),
    Mutation(
        "routing_last_of_equal_experts",
        "Of equal experts in one lane, the last is chosen.",
        "topk_softmax", "topk_softmax.hip",
        before="const bool is_best = key[d] == best && !is_marked;",
        after="const bool is_best = key[d] == best;",
        runs=(Run("exact", "f32", output="exact_equal"),)),
    Mutation(
        "routing_groups_by_one_expert",
        "Groups are compared by their best expert, though there is a bias.",
        "topk_softmax", "topk_softmax.hip",
        before="if (a.bias != nullptr && size > 1) of_group",
        after="if (size > 1024) of_group",
        runs=(Run("exact", "f32", output="exact_"),)),
    Mutation(
        "aligned_ids_of_earlier_blocks",
        "A block places its ids as if earlier blocks had none of their expert.",
        "moe_align_block_size", "moe_align_block_size.hip",
        before="if (i < first) before",
        after="if (first > a.total) before",
        runs=(Run("sizes", "i32", output="size_5000x1"),)),
    Mutation(
        "sampled_with_one_more_tie",
        "Of equal logits, one more is left than top_k or top_p allow.",
        "sample", "sample.hip",
        before="*bound -= digit.above + 1;",
        after="*bound -= digit.above;",
        runs=(Run("exact", "f32", output="exact_"),)),
    Mutation(
        "sampled_list_by_key",
        "The list of a row's tokens is in the order of keys, not of columns.",
        "sample", "sample.hip",
        before="rank += SortEntry(unordered[i]).value < entry.value;",
        after="rank += SortEntry(unordered[i]).key < entry.key;",
        runs=(Run("sizes", "f32", output="size_"),)),
    Mutation(
        "sampled_without_carry",
        "Sums of weights lose what is above 32 bits.",
        "sample", "sample.hip",
        before="if (sum.fetch_add(at, amount) > UINT32_MAX - amount) sum",
        after="if (sum.fetch_add(at, amount) > UINT32_MAX) sum",
        runs=(Run("exact", "f32", output="exact_"),)),

    Mutation(
        "penalties_of_absent_tokens",
        "The second token of a span is lowered if the first occurs.",
        "apply_penalties", "apply_penalties.hip",
        before="if (occurs[d] >> i & 1)",
        after="if (occurs[d] >> i & 1 || (i == 1 && (occurs[d] & 1)))",
        runs=(Run("smoke", "f32", output="smoke_"), Run("layouts", "f32", output="layout_"))),
    Mutation(
        "penalties_before_the_row",
        "The first span of a row begins before the row.",
        "apply_penalties", "apply_penalties.hip",
        before="column = first < 0 ? 0 : first;",
        after="column = first;",
        runs=(Run("layouts", "f32", output="layout_"),)),
    Mutation(
        "penalties_past_the_end",
        "The second span of a work-item ends behind the row.",
        "apply_penalties", "apply_penalties.hip",
        before="((spans - 1) * kPenaltyBlock + 1) * kSpan<T> <= a.columns;",
        after="kSpan<T> <= a.columns;",
        runs=(Run("sizes", "f32", ends="fault", guard="after"),)),
    Mutation(
        "penalties_fused",
        "The product of frequency and count is not rounded.",
        "apply_penalties", "apply_penalties.hip",
        before="x - rounded_product(frequency, float(count)) - presence",
        after="__builtin_fmaf(-frequency, float(count), x) - presence",
        runs=(Run("adversarial", "f32", output="adversarial_cancelling"), Run("smoke", "f32", output="smoke_"))),

    # ---- Rounding. Truncation stays under the 1 ULP that 16-bit results may have, except in cases that allow half an
    # ULP.
    Mutation(
        "bf16_cut_off",
        "Results are rounded towards zero instead of to nearest.",
        "rms_norm", TYPES,
        before="uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);",
        after="uint32_t rounded = bits;",
        runs=(Run("adversarial", "bf16", output="adversarial_rounding"),)),
    Mutation(
        "f16_cut_off",
        "The same.",
        "rms_norm", TYPES,
        before="return {bit_cast<uint16_t>(_Float16(v))};",
        after="return {bit_cast<uint16_t>(_Float16(bit_cast<float>(bit_cast<uint32_t>(v) & ~0x1fffu)))};",
        runs=(Run("adversarial", "f16", output="adversarial_rounding"),)),
    Mutation(
        "zeros_lose_their_sign",
        "-0 becomes +0. clang's fused product and conversion for AMD does the same.",
        "rms_norm", TYPES,
        before="return {bit_cast<uint16_t>(_Float16(v))};",
        after="return {bit_cast<uint16_t>(_Float16(v + 0.0f))};",
        runs=(Run("adversarial", "f16", output="adversarial_signs_of_zero"),)),
    # ---- Cumulative sums, and sort
    Mutation(
        "sum_of_chunks_without_the_last",
        "The chunks after the last whole group of 32 are left out of the sum before a chunk. Lines of one chunk do not show it.",
        "cumsum", CUMSUM,
        before="HIPOPS_METHOD Wide sum() const { return groups + group; }",
        after="HIPOPS_METHOD Wide sum() const { return groups; }",
        runs=(Run("sizes", "f32"), Run("sizes", "i64"))),
    Mutation(
        "one_set_of_sums_of_groups",
        "A wave that is early for the next tile overwrites the sums of the one before, which late waves still add.",
        "cumsum", CUMSUM_LINES,
        before="turn ^= 1;  // the next step",
        after="// the next step",
        runs=(Run("sizes", "f32", "report", output="race at byte", race=True),)),
    Mutation(
        "zeros_in_order",
        "-0 is less than +0, so equal elements change places.",
        "sort", SORT_KEYS,
        before="key = bits == (sign & is_float) ? sign : key;",
        after="",
        runs=(Run("adversarial", "f32"), Run("adversarial", "bf16"))),
    Mutation(
        "zeros_made_from_keys",
        "Both zeros have one key, and a long row's values are made from keys: -0 becomes +0.",
        "sort", SORT_KEYS,
        before="((ordered & most) == uint32_t(a.sign) || (ordered & most) == most)",
        after="(ordered & most) == most",
        runs=(Run("adversarial", "f32"),)),
    Mutation(
        "words_not_mirrored_between_lanes",
        "The first step of a merge compares words that are not mirror images. Rows of one work-item do not show it.",
        "sort", SORT_ROWS,
        before="of_lane[IsMirror ? kShortRowsDepth - 1 - n : n]",
        after="of_lane[n]",
        runs=(Run("sizes", "f32"),)),
)

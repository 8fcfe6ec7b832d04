/* All kernels for one type and one instruction set, and the table that lists them. Six .c files include this
   header; each is a translation unit of its own, so that they compile in parallel and names need no suffix.

   In:   REAL_IS_DOUBLE, ISA_LEVEL, KERNEL_TABLE (the table's name; without it, the kernels alone) */
#include "engine.h"

#if ISA_LEVEL == 0 || defined(TEACHCONV_X86)
#include "gather.h"
#include "phase_axis.h"
#include "vectors.h"
#include "register_tile.h"
#include "pack.h"
#include "ranges.h"
#include "left_matrix.h"
#include "row_gemm.h"
#include "exchanged.h"
#include "winograd_matrices.h"
#include "winograd.h"
#include "phases.h"
#include "small_layers.h"
#include "planes.h"
#include "col2im.h"
#include "pixel_gemm.h"
#include "winograd_filter_gradient.h"
#include "depthwise_windows.h"
#include "depthwise_tiles.h"
#include "depthwise_input_gradient.h"
#include "depthwise.h"
#include "depthwise_filter_gradient.h"

#if defined(KERNEL_TABLE)
#define PACKED_RUNG(f) \
    { f##_packed_bytes, f##_pack, f##_run }
#define PLAIN_RUNG(f) \
    { NULL, NULL, f##_run }

extern const kernel_table KERNEL_TABLE;
const kernel_table KERNEL_TABLE = {
    .lanes = LANES,
    .forward = {[ROW_GEMM] = {row_gemm_packed_bytes, row_gemm_pack, small_layer_or_row_gemm_run},
                [WINOGRAD] = PACKED_RUNG(winograd),
                [WINOGRAD2] = PACKED_RUNG(winograd),
                [WINOGRAD4] = PACKED_RUNG(winograd4),
                [DEPTHWISE] = PLAIN_RUNG(depthwise)},
    .input_gradient = {[WINOGRAD] = PACKED_RUNG(winograd_input),
                       [WINOGRAD2] = PACKED_RUNG(winograd_input),
                       [WINOGRAD4] = PACKED_RUNG(winograd4_input),
                       [COL2IM] = PACKED_RUNG(col2im),
                       [PHASES] = PACKED_RUNG(phases),
                       [DEPTHWISE] = PLAIN_RUNG(depthwise_input)},
    .filter_gradient = {[PIXEL_GEMM] = pixel_gemm_run,
                        [WINOGRAD] = winograd_filter_run,
                        [WINOGRAD4] = winograd4_filter_run,
                        [DEPTHWISE] = depthwise_filter_run},
    .all_finite = all_finite,
};
#endif
#endif

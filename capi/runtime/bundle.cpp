#include "runtime/bundle.h"

#ifdef HIPOPS_ZSTD
#include <zstd.h>
#endif

#include "tensor/error.h"

namespace hipops {

#ifdef HIPOPS_ZSTD

hipops_status open_bundle(const Image& image, Bundle* out) {
  constexpr size_t kPage = 4096;
  const size_t packed = image.hip_bundle_bytes();
  const unsigned long long size = ZSTD_getFrameContentSize(image.hip_bundle, packed);
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR)
    return fail(HIPOPS_INTERNAL_ERROR, "%s: the library's bundle is damaged", image.op);
  out->size = static_cast<size_t>(size);
  out->memory.reset(static_cast<unsigned char*>(std::aligned_alloc(kPage, (out->size / kPage + 1) * kPage)));
  if (!out->memory) return fail(HIPOPS_INTERNAL_ERROR, "%s: out of host memory for its code objects", image.op);
  out->bytes = out->memory.get();
  const size_t made = ZSTD_decompress(out->memory.get(), out->size, image.hip_bundle, packed);
  if (made == out->size) return HIPOPS_SUCCESS;
  return fail(HIPOPS_INTERNAL_ERROR, "%s: the library's bundle cannot be unpacked: %s", image.op,
              ZSTD_isError(made) ? ZSTD_getErrorName(made) : "it is shorter than it says");
}

#else

hipops_status open_bundle(const Image& image, Bundle* out) {
  out->bytes = image.hip_bundle;
  out->size = image.hip_bundle_bytes();
  return HIPOPS_SUCCESS;
}

#endif

}  // namespace hipops

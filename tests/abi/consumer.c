/* An engine that links with libhipops.so: compiled as C99 and as C++11. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "hipops/hipops.h"

#include "layout.h"

#define CHECK(condition)                                                                                         \
  do {                                                                                                           \
    if (!(condition)) {                                                                                          \
      fprintf(stderr, "line %d: %s does not hold; last error: %s\n", __LINE__, #condition, hipops_last_error()); \
      return 1;                                                                                                  \
    }                                                                                                            \
  } while (0)

static hipops_tensor matrix(float* data, int64_t rows, int64_t cols) {
  const int64_t shape[2] = {rows, cols};
  return hipops_contiguous(data, HIPOPS_F32, 2, shape);
}

int main(void) {
  float x_data[15], y_data[15];
  hipops_tensor x = matrix(x_data, 3, 5), y = matrix(y_data, 3, 5);
  int i, row;

  CHECK(hipops_version_number() == 10000 * HIPOPS_VERSION_MAJOR + 100 * HIPOPS_VERSION_MINOR + HIPOPS_VERSION_PATCH);
  CHECK(strstr(hipops_build_info(), hipops_version()) != NULL);
  CHECK(hipops_last_error()[0] == '\0' && hipops_last_runtime_error() == 0);
  CHECK(hipops_backend_in_use() == HIPOPS_BACKEND_AUTO);
  CHECK(hipops_supports("rms_norm", HIPOPS_F32, HIPOPS_NONE) == 1);

  for (i = 0; i < 15; ++i) x_data[i] = (float)(i - 4);
  CHECK(hipops_rms_norm(&y, NULL, &x, NULL, 0.5, 0, NULL) == HIPOPS_SUCCESS);
  for (row = 0; row < 3; ++row) {
    double squares = 0;
    for (i = 5 * row; i < 5 * row + 5; ++i) squares += (double)x_data[i] * x_data[i];
    for (i = 5 * row; i < 5 * row + 5; ++i) CHECK(fabs(y_data[i] - x_data[i] / sqrt(squares / 5 + 0.5)) < 1e-6);
  }
  CHECK(hipops_backend_in_use() == HIPOPS_BACKEND_CPU);
  CHECK(hipops_init(HIPOPS_BACKEND_AUTO) == HIPOPS_SUCCESS);
  CHECK(hipops_prepare(NULL) == HIPOPS_SUCCESS);

  CHECK(hipops_layer_norm(&y, NULL, NULL, &x, NULL, NULL, 0, 0, NULL) == HIPOPS_SUCCESS);
  CHECK(y_data[2] == 0 && y_data[12] == 0); /* the middle of a row is its mean */
  CHECK(hipops_softmax(&x, &x, 0, NULL) == HIPOPS_SUCCESS);
  CHECK(fabs(x_data[0] + x_data[1] + x_data[2] + x_data[3] + x_data[4] - 1) < 1e-6);

  y.shape[1] = 4;
  i = hipops_rms_norm(&y, NULL, &x, NULL, 0.5, 0, NULL);
  CHECK(strcmp(hipops_status_string((hipops_status)i), "HIPOPS_INVALID_ARGUMENT") == 0);
  CHECK(strcmp(hipops_last_error(), "rms_norm: y.shape[1] is 4, expected 5 (x.shape[1])") == 0);
  return 0;
}

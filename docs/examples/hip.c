/* C with HIP: memory on an AMD GPU, a stream, one call of hipops, and its results checked on the host.
 *
 *   cc -D__HIP_PLATFORM_AMD__ -I include -I /opt/rocm/include docs/examples/hip.c -o example -L build/release/lib \
 *     -lhipops -L /opt/rocm/lib -lamdhip64 -lm -Wl,-rpath,$PWD/build/release/lib:/opt/rocm/lib && ./example
 */
#include <hip/hip_runtime_api.h>
#include <hipops/hipops.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void hip(hipError_t error) {
  if (error != hipSuccess) fprintf(stderr, "%s\n", hipGetErrorString(error)), exit(1);
}

static void ops(hipops_status status) {
  if (status != HIPOPS_SUCCESS) fprintf(stderr, "%s: %s\n", hipops_status_string(status), hipops_last_error()), exit(1);
}

int main(void) {
  enum { rows = 64, cols = 1000 };
  static float x[rows][cols], y[rows][cols];
  const int64_t shape[] = {rows, cols};
  void *x_data, *y_data;
  hipStream_t stream;
  for (int i = 0; i < rows * cols; ++i) x[0][i] = (float)(i * 7919 % 2001 - 1000) / 500;

  hip(hipStreamCreate(&stream));
  hip(hipMalloc(&x_data, sizeof x));
  hip(hipMalloc(&y_data, sizeof y));
  ops(hipops_init(HIPOPS_BACKEND_HIP));
  hipops_tensor in = hipops_contiguous(x_data, HIPOPS_F32, 2, shape);
  hipops_tensor out = hipops_contiguous(y_data, HIPOPS_F32, 2, shape);
  hip(hipMemcpyAsync(x_data, x, sizeof x, hipMemcpyHostToDevice, stream));
  ops(hipops_rms_norm(&out, NULL, &in, NULL, 1e-5, 0, stream)); /* launches, and returns at once */
  hip(hipMemcpyAsync(y, y_data, sizeof y, hipMemcpyDeviceToHost, stream));
  hip(hipStreamSynchronize(stream));

  double worst = 0;
  for (int i = 0; i < rows; ++i) {
    double squares = 0;
    for (int j = 0; j < cols; ++j) squares += (double)x[i][j] * x[i][j];
    for (int j = 0; j < cols; ++j) worst = fmax(worst, fabs(y[i][j] - x[i][j] / sqrt(squares / cols + 1e-5)));
  }
  hip(hipFree(x_data));
  hip(hipFree(y_data));
  hip(hipStreamDestroy(stream));
  printf("at most %.1e from a plain loop's results\n", worst);
  return worst < 1e-6 ? 0 : 1;
}

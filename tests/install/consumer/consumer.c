/* The program of a user. consumer [OP...]: the library has exactly these ops. Without an OP it has all of them. */
#include <hipops/hipops.h>
#include <stdio.h>
#include <string.h>

static int is_there(int argc, char** argv, const char* op) {
  int i;
  for (i = 1; i < argc; ++i)
    if (strcmp(argv[i], op) == 0) return 1;
  return argc == 1;
}

/* The call succeeded if the library has the op. Otherwise its message states that the op is missing. */
static int is_right(int argc, char** argv, const char* op, hipops_status status) {
  const int there = is_there(argc, argv, op);
  const hipops_status expected = there ? HIPOPS_SUCCESS : HIPOPS_NO_CODE_OBJECT;
  if (status == expected && hipops_supports(op, HIPOPS_F32, HIPOPS_NONE) == there) return 1;
  fprintf(stderr, "%s: %s: %s\n", op, hipops_status_string(status), hipops_last_error());
  return 0;
}

int main(int argc, char** argv) {
  float x[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, y[2][4] = {{0}};
  hipops_tensor in = {x, HIPOPS_F32, 2, {2, 4}, {4, 1}}, out = in;
  out.data = y;
  if (hipops_init(HIPOPS_BACKEND_CPU) != HIPOPS_SUCCESS || hipops_prepare(NULL) != HIPOPS_SUCCESS)
    return fprintf(stderr, "%s\n", hipops_last_error()), 1;
  if (!is_right(argc, argv, "rms_norm", hipops_rms_norm(&out, NULL, &in, NULL, 1e-5, 0, NULL))) return 1;
  printf("hipops %s: %f %f\n", hipops_version(), y[0][0], y[1][3]);
  return is_right(argc, argv, "softmax", hipops_softmax(&out, &in, 0, NULL)) ? 0 : 1;
}

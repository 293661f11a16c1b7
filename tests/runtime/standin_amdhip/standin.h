// The functions of the stand-in libamdhip64 that control it. It also has the functions of HIP that hipops calls. It
// uses host memory and executes nothing: it records launches.
//
// Environment, read at the first call:
// - STANDIN_ARCH=gfx942 is the default. "gfx942,gfx1100" makes two devices. With "none" every call for devices fails
//   with hipErrorNoDevice. With "zero" the calls succeed, and the count is 0.
// - STANDIN_FAIL=hipModuleLoadData:1:209: the first hipModuleLoadData returns 209, without effect. Commas separate
//   rules. A count of 0 means every call.
// - STANDIN_NO_ENTRY=1: the error for a bundle without an entry for the device, instead of 209. Newer releases return
//   1.
// - STANDIN_WORDS=name: the text of an error is its name, as in HIP 5.
#pragma once

#include <cstddef>

extern "C" {

struct StandinLaunch {
  const char* kernel;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  const void* arguments;  // the first kernel parameter, valid during the observer's call
  void* extra;
  int device;
};

// Calls of a HIP function by name since the start or the last reset, with failed calls.
int standin_call_count(const char* function);
// Forgets counts, rules and the observer, but not memory and modules.
void standin_reset();
// Adds rules in the form of STANDIN_FAIL.
void standin_fail(const char* rules);
// Called in each launch that is accepted.
void standin_observe(void (*observer)(const StandinLaunch* launch));
// Modules loaded and not unloaded, and allocations not freed.
int standin_live_modules();
int standin_live_allocations();
// The error that hipGetLastError would return in the calling thread. The error stays.
int standin_pending_error();
// While 1, hipModuleLoadData fails with hipErrorStreamCaptureUnsupported in a thread whose capture mode is not relaxed.
void standin_capturing(int capturing);
// The calling thread's capture mode: 0 global, 1 thread-local, 2 relaxed.
int standin_capture_mode();
}

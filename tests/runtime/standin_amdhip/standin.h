// What a test may ask of the stand-in libamdhip64 beside HIP's own functions, which it offers as far as hipops calls
// them. It runs on host memory and executes nothing: a launch is recorded.
//
// Environment, read at the first call: STANDIN_ARCH=gfx942 (default; "gfx942,gfx1100" makes two devices; "none":
// every call for devices fails with hipErrorNoDevice, "zero": they succeed, and there are 0),
// STANDIN_FAIL=hipModuleLoadData:1:209 (the first hipModuleLoadData returns 209, once, without effect; several rules
// are separated by commas; a count of 0 means every call) and STANDIN_NO_ENTRY=1 (what a bundle without an entry for the
// device fails with, in place of 209: newer releases return 1). STANDIN_WORDS=name: an error's words are its name, as in HIP 5.
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

// Calls of a HIP function by name since the start or the last reset, failed ones included.
int standin_call_count(const char* function);
// Forgets counts, rules and the observer; memory and modules stay.
void standin_reset();
// Adds rules, as STANDIN_FAIL.
void standin_fail(const char* rules);
// Called in each launch that is accepted.
void standin_observe(void (*observer)(const StandinLaunch* launch));
// Modules loaded and not unloaded; allocations not freed.
int standin_live_modules();
int standin_live_allocations();
// The calling thread's error that hipGetLastError would return, without taking it.
int standin_pending_error();
// While 1, hipModuleLoadData fails with hipErrorStreamCaptureUnsupported in a thread whose capture mode is not relaxed.
void standin_capturing(int capturing);
// The calling thread's capture mode: 0 global, 1 thread-local, 2 relaxed.
int standin_capture_mode();
}

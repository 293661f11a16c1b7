// How a failure is kept for hipops_last_error() and hipops_last_runtime_error().
#include <string>
#include <thread>

#include "catch.h"
#include "tensor/error_state.h"

using namespace hipops;

TEST_CASE("a failure keeps its message and clears the runtime's code", "[error]") {
  CHECK(fail_with_code(HIPOPS_RUNTIME_ERROR, 209, "loading %s", "softmax") == HIPOPS_RUNTIME_ERROR);
  CHECK(std::string(hipops_last_error()) == "loading softmax");
  CHECK(hipops_last_runtime_error() == 209);
  CHECK(fail(HIPOPS_INVALID_ARGUMENT, "x.rank is %d, expected %d", 0, 1) == HIPOPS_INVALID_ARGUMENT);
  CHECK(std::string(hipops_last_error()) == "x.rank is 0, expected 1");
  CHECK(hipops_last_runtime_error() == 0);
  CHECK(fail_with_code(HIPOPS_NO_DEVICE, 100, "none") == HIPOPS_NO_DEVICE);
  CHECK(hipops_last_runtime_error() == 100);
}

TEST_CASE("context goes before the message and keeps the code", "[error]") {
  fail_with_code(HIPOPS_RUNTIME_ERROR, 719, "refused");
  CHECK(fail_in_context(HIPOPS_NO_CODE_OBJECT, "%s: ", "rms_norm") == HIPOPS_NO_CODE_OBJECT);
  CHECK(std::string(hipops_last_error()) == "rms_norm: refused");
  CHECK(hipops_last_runtime_error() == 719);
}

TEST_CASE("a runtime's failure has the runtime's name for it, and its text if that differs from the name", "[error]") {
  const auto message = [](const char* name, const char* words) {
    CHECK(fail_call("hipInit", 100, name, words) == HIPOPS_RUNTIME_ERROR);
    CHECK(hipops_last_runtime_error() == 100);
    return std::string(hipops_last_error());
  };
  CHECK(message("hipErrorNoDevice", "no device is detected") == "hipInit: hipErrorNoDevice (100): no device is detected");
  CHECK(message("hipErrorNoDevice", "hipErrorNoDevice") == "hipInit: hipErrorNoDevice (100)");
  CHECK(message("hipErrorNoDevice", "") == "hipInit: hipErrorNoDevice (100)");
  CHECK(message("hipErrorNoDevice", nullptr) == "hipInit: hipErrorNoDevice (100)");
  CHECK(message(nullptr, nullptr) == "hipInit: ? (100)");
}

TEST_CASE("a message may quote the one before it", "[error]") {
  fail(HIPOPS_INTERNAL_ERROR, "first");
  fail(HIPOPS_INTERNAL_ERROR, "second after %s", hipops_last_error());
  CHECK(std::string(hipops_last_error()) == "second after first");
}

TEST_CASE("a message that is too long is cut and terminated", "[error]") {
  const std::string longer(100000, 'x');
  const size_t room = sizeof(ErrorState::message) - 1;
  fail(HIPOPS_INTERNAL_ERROR, "%s", longer.c_str());
  CHECK(std::string(hipops_last_error()) == longer.substr(0, room));
  fail_in_context(HIPOPS_INTERNAL_ERROR, "op: ");
  CHECK(std::string(hipops_last_error()) == "op: " + longer.substr(0, room - 4));
  fail_in_context(HIPOPS_INTERNAL_ERROR, "%s", longer.c_str());
  CHECK(std::string(hipops_last_error()) == longer.substr(0, room));
}

TEST_CASE("each thread has its own message, empty at first", "[error]") {
  fail_with_code(HIPOPS_RUNTIME_ERROR, 1, "this thread's");
  std::string at_first = "not empty", later;
  int code_at_first = -1;
  std::thread other([&] {
    at_first = hipops_last_error();
    code_at_first = hipops_last_runtime_error();
    fail(HIPOPS_NO_DEVICE, "the other thread's");
    later = hipops_last_error();
  });
  other.join();
  CHECK(at_first.empty());
  CHECK(code_at_first == 0);
  CHECK(later == "the other thread's");
  CHECK(std::string(hipops_last_error()) == "this thread's");
  CHECK(hipops_last_runtime_error() == 1);
}

TEST_CASE("every status has its name, and other values have one too", "[error]") {
  CHECK(std::string(hipops_status_string(HIPOPS_SUCCESS)) == "HIPOPS_SUCCESS");
  CHECK(std::string(hipops_status_string(HIPOPS_INVALID_ARGUMENT)) == "HIPOPS_INVALID_ARGUMENT");
  CHECK(std::string(hipops_status_string(HIPOPS_UNSUPPORTED_DTYPE)) == "HIPOPS_UNSUPPORTED_DTYPE");
  CHECK(std::string(hipops_status_string(HIPOPS_UNSUPPORTED_LAYOUT)) == "HIPOPS_UNSUPPORTED_LAYOUT");
  CHECK(std::string(hipops_status_string(HIPOPS_NO_DEVICE)) == "HIPOPS_NO_DEVICE");
  CHECK(std::string(hipops_status_string(HIPOPS_NO_CODE_OBJECT)) == "HIPOPS_NO_CODE_OBJECT");
  CHECK(std::string(hipops_status_string(HIPOPS_RUNTIME_ERROR)) == "HIPOPS_RUNTIME_ERROR");
  CHECK(std::string(hipops_status_string(HIPOPS_INTERNAL_ERROR)) == "HIPOPS_INTERNAL_ERROR");
  CHECK(std::string(hipops_status_string(HIPOPS_STATUS_INT32)) == "unknown hipops_status");
  CHECK(std::string(hipops_status_string(static_cast<hipops_status>(8))) == "unknown hipops_status");
}

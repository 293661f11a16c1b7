// No exception leaves the library. Exceptions of the standard library, on slow paths, become a status.
#pragma once

#include <exception>
#include <new>

#include "tensor/error.h"

namespace hipops {

template <class Body>
hipops_status guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(HIPOPS_INTERNAL_ERROR, "out of host memory");
  } catch (const std::exception& problem) {
    return fail(HIPOPS_INTERNAL_ERROR, "unexpected: %s", problem.what());
  }
}

}  // namespace hipops

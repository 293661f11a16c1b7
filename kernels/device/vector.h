// Loads and stores of several neighbouring elements at once.
#pragma once

#include "device/types.h"

namespace hipops {
namespace {

constexpr int kWideBytes = 16;  // the widest access there is on every target

// N neighbouring elements, aligned as a whole, so that a copy is one access (two for 32 bytes).
template <class T, int N>
struct alignas(sizeof(T) * N > kWideBytes ? kWideBytes : sizeof(T) * N) Vector {
  T element[N];
};

template <int N, class T>
HIPOPS_FN Vector<T, N> load_vector(const T* at) { return *reinterpret_cast<const Vector<T, N>*>(at); }

template <int N, class T>
HIPOPS_FN void store_vector(T* at, const Vector<T, N>& v) { *reinterpret_cast<Vector<T, N>*>(at) = v; }

}  // namespace
}  // namespace hipops

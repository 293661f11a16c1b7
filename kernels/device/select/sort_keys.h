// Keys: the order of elements as unsigned integers. Elements that compare equal have one key, so a stable sort keeps
// their order: -0 and +0, and all NaNs. A NaN is greater than all numbers. Keys have the elements' width.
#pragma once

#include "device/core/strided.h"
#include "device/select/sort_contract.h"

namespace hipops {
namespace {

template <class Word>
HIPOPS_FN Word key_of(const SortRowsArgs& a, Word element) {
  using Bits = typename Choose<sizeof(Word) == 8, uint64_t, uint32_t>::type;
  const Bits sign = Bits(a.sign), bits = Bits(element), is_float = a.is_float ? ~Bits(0) : Bits(0);
  Bits key = bits ^ (bits & sign ? sign | is_float : sign);  // a negative float has all bits inverted
  key = bits == (sign & is_float) ? sign : key;              // -0; an integer is 0 here, and keeps its key
  key = (bits & ~sign) > Bits(a.infinity) ? ~Bits(0) : key;
  return Word(key ^ Bits(a.invert));
}

// The bits of the element with this key, which is of up to 32 bits and not of several elements.
HIPOPS_FN uint32_t element_of(const SortRowsArgs& a, uint32_t key) {
  const uint32_t sign = uint32_t(a.sign), ordered = key ^ uint32_t(a.invert);
  return a.is_float && !(ordered & sign) ? ~ordered : ordered ^ sign;
}
HIPOPS_FN bool is_of_several(const SortRowsArgs& a, uint32_t key) {
  const uint32_t ordered = key ^ uint32_t(a.invert), most = uint32_t(~uint64_t(0) >> (64 - 8 * a.bytes));
  return a.is_float && ((ordered & most) == uint32_t(a.sign) || (ordered & most) == most);
}

// The word of an element's key that a pass sorts by.
template <class Word>
HIPOPS_FN uint32_t key_word(const SortRowsArgs& a, int32_t word, Word element) {
  if constexpr (sizeof(Word) == 8) return uint32_t(key_of(a, element) >> (32 * word));
  else return key_of(a, element);
}

template <class Word>
HIPOPS_FN Word element_at_column(const SortRowsArgs& a, int64_t row, uint32_t column) {
  return static_cast<const Word*>(a.x)[row + int64_t(column) * a.x_step];
}

// Calls f with a word of the elements' size.
template <class F>
HIPOPS_FN void with_word(int32_t bytes, F f) {
  switch (bytes) {
    case 1: return f(uint8_t());
    case 2: return f(uint16_t());
    case 4: return f(uint32_t());
    default: return f(uint64_t());
  }
}

// Stores a column at a place of a row's results.
HIPOPS_FN void store_index(const SortRowsArgs& a, const Offsets<kSortOperands>& at, int64_t place, uint32_t column) {
  if (a.indices == nullptr) return;
  const int64_t to = at.of[kSortIndices] + place * a.indices_step;
  if (a.index_bytes == 8) static_cast<int64_t*>(a.indices)[to] = column;
  else static_cast<uint32_t*>(a.indices)[to] = column;
}

// Stores the results at a place of a row: the element of this key, and its column.
template <class Word>
HIPOPS_FN void store_sorted(const SortRowsArgs& a, const Offsets<kSortOperands>& at, int64_t place, uint32_t key, uint32_t column) {
  store_index(a, at, place, column);
  if (a.values == nullptr) return;
  const bool is_lost = sizeof(Word) == 8 || is_of_several(a, key);
  const Word element = is_lost ? element_at_column<Word>(a, at.of[kSortX], column) : Word(element_of(a, key));
  static_cast<Word*>(a.values)[at.of[kSortValues] + place * a.values_step] = element;
}

}  // namespace
}  // namespace hipops

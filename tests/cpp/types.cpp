// hipops.hpp: which types are elements, and that const memory is no output. It only has to compile; refused.cpp must not.
#include <hipops/hipops.hpp>

namespace {

using hipops::const_tensor;
using hipops::dtype_of;
using hipops::optional_output;
using hipops::tensor;

template <class... T>
constexpr bool are_none = ((dtype_of<T> == HIPOPS_NONE && dtype_of<const T> == HIPOPS_NONE) && ...);
template <class T>
constexpr bool is_of_width = dtype_of<T> == dtype_of<const T> &&
                             dtype_of<T> == (sizeof(T) == 1   ? (std::is_signed_v<T> ? HIPOPS_I8 : HIPOPS_U8)
                                             : sizeof(T) == 2 ? (std::is_signed_v<T> ? HIPOPS_I16 : HIPOPS_U16)
                                             : sizeof(T) == 4 ? (std::is_signed_v<T> ? HIPOPS_I32 : HIPOPS_U32)
                                                              : (std::is_signed_v<T> ? HIPOPS_I64 : HIPOPS_U64));

static_assert(dtype_of<int8_t> == HIPOPS_I8 && dtype_of<uint8_t> == HIPOPS_U8 && dtype_of<int16_t> == HIPOPS_I16);
static_assert(dtype_of<uint16_t> == HIPOPS_U16 && dtype_of<int32_t> == HIPOPS_I32 && dtype_of<uint32_t> == HIPOPS_U32);
static_assert(dtype_of<int64_t> == HIPOPS_I64 && dtype_of<uint64_t> == HIPOPS_U64);
static_assert(dtype_of<float> == HIPOPS_F32 && dtype_of<const float> == HIPOPS_F32);
static_assert(dtype_of<double> == HIPOPS_F64 && dtype_of<const double> == HIPOPS_F64);
static_assert(is_of_width<char> && is_of_width<signed char> && is_of_width<wchar_t> && is_of_width<char16_t> &&
              is_of_width<char32_t> && is_of_width<long> && is_of_width<unsigned long> && is_of_width<long long> &&
              is_of_width<unsigned long long>);

enum class Scoped : int32_t {};
enum Plain : uint16_t {};
struct Half {
  uint16_t bits;
};
struct Incomplete;
static_assert(are_none<bool, long double, std::byte, Scoped, Plain, Half, Incomplete, float*, float[4], std::nullptr_t>);
static_assert(dtype_of<void> == HIPOPS_NONE && dtype_of<volatile int> == HIPOPS_NONE &&
              dtype_of<volatile float> == HIPOPS_NONE && dtype_of<const volatile int> == HIPOPS_NONE);
#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 WideUnsigned;
static_assert(are_none<Wide, WideUnsigned>);
#endif
#if defined(__FLT16_MAX__) && defined(__clang__)  // g++ has the macro before the type
static_assert(are_none<_Float16>);
#endif

// A tensor for writing needs memory that is not const.
using Sizes = std::initializer_list<int64_t>;
template <class Pointer>
constexpr bool is_output = std::is_constructible_v<tensor, Pointer, Sizes> &&
                           std::is_constructible_v<tensor, Pointer, hipops_dtype, Sizes> &&
                           std::is_constructible_v<tensor, Pointer, hipops_dtype, int32_t, const int64_t*>;
template <class Pointer>
constexpr bool is_no_output =
    !std::is_constructible_v<tensor, Pointer, Sizes> && !std::is_constructible_v<tensor, Pointer, Sizes, Sizes> &&
    !std::is_constructible_v<tensor, Pointer, hipops_dtype, Sizes> &&
    !std::is_constructible_v<tensor, Pointer, hipops_dtype, Sizes, Sizes> &&
    !std::is_constructible_v<tensor, Pointer, hipops_dtype, int32_t, const int64_t*> &&
    !std::is_constructible_v<tensor, Pointer, hipops_dtype, int32_t, const int64_t*, const int64_t*>;
static_assert(is_output<float*> && is_output<int64_t*> && is_output<void*>);
static_assert(is_no_output<const float*> && is_no_output<const int64_t*> && is_no_output<const void*>);
static_assert(std::is_constructible_v<const_tensor, const float*, Sizes> &&
              std::is_constructible_v<const_tensor, float*, Sizes>);

// A tensor for writing is also an input. The C struct is both.
static_assert(std::is_convertible_v<const tensor&, const const_tensor&> && std::is_convertible_v<hipops_tensor, tensor> &&
              std::is_convertible_v<hipops_tensor, const_tensor> && !std::is_convertible_v<const_tensor, tensor>);
static_assert(std::is_convertible_v<tensor, optional_output> && std::is_convertible_v<hipops_tensor, optional_output> &&
              std::is_convertible_v<std::nullptr_t, optional_output> &&
              !std::is_convertible_v<const_tensor, optional_output> &&
              !std::is_convertible_v<hipops::optional_tensor, optional_output>);
static_assert(!std::is_invocable_v<decltype(hipops::softmax)&, const_tensor, tensor, uint32_t, void*> &&
              std::is_invocable_v<decltype(hipops::softmax)&, tensor, const_tensor, uint32_t, void*>);

struct Bfloat16 {
  uint16_t bits;
};

}  // namespace

template <> inline constexpr hipops_dtype hipops::dtype_of<Bfloat16> = HIPOPS_BF16;
static_assert(dtype_of<const Bfloat16> == HIPOPS_BF16 && std::is_constructible_v<const_tensor, const Bfloat16*, Sizes>);

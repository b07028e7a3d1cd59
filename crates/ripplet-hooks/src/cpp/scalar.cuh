// Scalar operations with Rust's meaning, for CUDA C++17 (nvcc, NVRTC) and for the host (g++,
// clang++).
//
// Every function here is total: integers wrap, casts saturate, shift amounts are masked. Floats are
// rounded after each operation: on the device by the `_rn` intrinsics, which the compiler never
// fuses; on the host by `-ffp-contract=off`, which must be passed to the compiler. Neither side may
// be compiled with fast math or flush subnormal numbers.
#pragma once

#if defined(__CUDACC__)
#define RIPPLET_FN __device__ __forceinline__
#define RIPPLET_DEVICE 1
#else
#define RIPPLET_FN inline
#define RIPPLET_DEVICE 0
#endif

#if defined(__clang__) && !RIPPLET_DEVICE
#pragma STDC FP_CONTRACT OFF
#endif

namespace ripplet {

typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef float f32;

static_assert(sizeof(u32) == 4 && sizeof(u64) == 8 && sizeof(f32) == 4, "Rust's sizes");

constexpr u32 U32_MAX = 0xffffffffu;
constexpr u64 U64_MAX = 0xffffffffffffffffull;
constexpr i32 I32_MAX = 0x7fffffff;
constexpr i32 I32_MIN = -0x7fffffff - 1;
constexpr i64 I64_MAX = 0x7fffffffffffffffll;
constexpr i64 I64_MIN = -0x7fffffffffffffffll - 1;

// --- Bits of floats ---

RIPPLET_FN u32 to_bits(f32 x) {
#if RIPPLET_DEVICE
    return __float_as_uint(x);
#else
    u32 bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
#endif
}

RIPPLET_FN f32 from_bits(u32 bits) {
#if RIPPLET_DEVICE
    return __uint_as_float(bits);
#else
    f32 x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
#endif
}

RIPPLET_FN bool is_nan(f32 x) { return x != x; }
RIPPLET_FN bool is_finite(f32 x) { return (to_bits(x) & 0x7f800000u) != 0x7f800000u; }

// --- Wrapping arithmetic ---

RIPPLET_FN u32 add(u32 a, u32 b) { return a + b; }
RIPPLET_FN u64 add(u64 a, u64 b) { return a + b; }
RIPPLET_FN i32 add(i32 a, i32 b) { return (i32)((u32)a + (u32)b); }
RIPPLET_FN i64 add(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
RIPPLET_FN u32 sub(u32 a, u32 b) { return a - b; }
RIPPLET_FN u64 sub(u64 a, u64 b) { return a - b; }
RIPPLET_FN i32 sub(i32 a, i32 b) { return (i32)((u32)a - (u32)b); }
RIPPLET_FN i64 sub(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
RIPPLET_FN u32 mul(u32 a, u32 b) { return a * b; }
RIPPLET_FN u64 mul(u64 a, u64 b) { return a * b; }
RIPPLET_FN i32 mul(i32 a, i32 b) { return (i32)((u32)a * (u32)b); }
RIPPLET_FN i64 mul(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }

#if RIPPLET_DEVICE
RIPPLET_FN f32 add(f32 a, f32 b) { return __fadd_rn(a, b); }
RIPPLET_FN f32 sub(f32 a, f32 b) { return __fsub_rn(a, b); }
RIPPLET_FN f32 mul(f32 a, f32 b) { return __fmul_rn(a, b); }
RIPPLET_FN f32 div(f32 a, f32 b) { return __fdiv_rn(a, b); }
RIPPLET_FN f32 sqrt(f32 x) { return __fsqrt_rn(x); }
RIPPLET_FN f32 floor(f32 x) { return ::floorf(x); }
RIPPLET_FN f32 ceil(f32 x) { return ::ceilf(x); }
RIPPLET_FN f32 trunc(f32 x) { return ::truncf(x); }
#else
RIPPLET_FN f32 add(f32 a, f32 b) { return a + b; }
RIPPLET_FN f32 sub(f32 a, f32 b) { return a - b; }
RIPPLET_FN f32 mul(f32 a, f32 b) { return a * b; }
RIPPLET_FN f32 div(f32 a, f32 b) { return a / b; }
RIPPLET_FN f32 sqrt(f32 x) { return __builtin_sqrtf(x); }
RIPPLET_FN f32 floor(f32 x) { return __builtin_floorf(x); }
RIPPLET_FN f32 ceil(f32 x) { return __builtin_ceilf(x); }
RIPPLET_FN f32 trunc(f32 x) { return __builtin_truncf(x); }
#endif

RIPPLET_FN f32 abs(f32 x) { return from_bits(to_bits(x) & 0x7fffffffu); }
RIPPLET_FN f32 neg(f32 x) { return from_bits(to_bits(x) ^ 0x80000000u); }
RIPPLET_FN f32 copysign(f32 size, f32 sign) {
    return from_bits((to_bits(size) & 0x7fffffffu) | (to_bits(sign) & 0x80000000u));
}

RIPPLET_FN u32 neg(u32 x) { return 0u - x; }
RIPPLET_FN u64 neg(u64 x) { return 0ull - x; }
RIPPLET_FN i32 neg(i32 x) { return (i32)(0u - (u32)x); }
RIPPLET_FN i64 neg(i64 x) { return (i64)(0ull - (u64)x); }
RIPPLET_FN i32 abs(i32 x) { return x < 0 ? neg(x) : x; }
RIPPLET_FN i64 abs(i64 x) { return x < 0 ? neg(x) : x; }

// Precondition: the divisor is not 0, and not -1 if the dividend is signed.
RIPPLET_FN u32 div(u32 a, u32 b) { return a / b; }
RIPPLET_FN u64 div(u64 a, u64 b) { return a / b; }
RIPPLET_FN i32 div(i32 a, i32 b) { return a / b; }
RIPPLET_FN i64 div(i64 a, i64 b) { return a / b; }
RIPPLET_FN u32 rem(u32 a, u32 b) { return a % b; }
RIPPLET_FN u64 rem(u64 a, u64 b) { return a % b; }
RIPPLET_FN i32 rem(i32 a, i32 b) { return a % b; }
RIPPLET_FN i64 rem(i64 a, i64 b) { return a % b; }

// --- Bits ---

RIPPLET_FN u32 shl(u32 x, u32 by) { return x << (by & 31u); }
RIPPLET_FN u64 shl(u64 x, u32 by) { return x << (by & 63u); }
RIPPLET_FN i32 shl(i32 x, u32 by) { return (i32)shl((u32)x, by); }
RIPPLET_FN i64 shl(i64 x, u32 by) { return (i64)shl((u64)x, by); }
RIPPLET_FN u32 shr(u32 x, u32 by) { return x >> (by & 31u); }
RIPPLET_FN u64 shr(u64 x, u32 by) { return x >> (by & 63u); }
RIPPLET_FN i32 shr(i32 x, u32 by) { return x >> (by & 31u); }
RIPPLET_FN i64 shr(i64 x, u32 by) { return x >> (by & 63u); }
RIPPLET_FN u32 rotate_left(u32 x, u32 by) { return shl(x, by) | shr(x, 0u - by); }
RIPPLET_FN u64 rotate_left(u64 x, u32 by) { return shl(x, by) | shr(x, 0u - by); }
RIPPLET_FN i32 rotate_left(i32 x, u32 by) { return (i32)rotate_left((u32)x, by); }
RIPPLET_FN i64 rotate_left(i64 x, u32 by) { return (i64)rotate_left((u64)x, by); }
RIPPLET_FN u32 rotate_right(u32 x, u32 by) { return rotate_left(x, 0u - by); }
RIPPLET_FN u64 rotate_right(u64 x, u32 by) { return rotate_left(x, 0u - by); }
RIPPLET_FN i32 rotate_right(i32 x, u32 by) { return rotate_left(x, 0u - by); }
RIPPLET_FN i64 rotate_right(i64 x, u32 by) { return rotate_left(x, 0u - by); }

#if RIPPLET_DEVICE
RIPPLET_FN u32 leading_zeros(u32 x) { return (u32)__clz((int)x); }
RIPPLET_FN u32 leading_zeros(u64 x) { return (u32)__clzll((long long)x); }
RIPPLET_FN u32 count_ones(u32 x) { return (u32)__popc(x); }
RIPPLET_FN u32 count_ones(u64 x) { return (u32)__popcll(x); }
#else
RIPPLET_FN u32 leading_zeros(u32 x) { return x == 0 ? 32u : (u32)__builtin_clz(x); }
RIPPLET_FN u32 leading_zeros(u64 x) { return x == 0 ? 64u : (u32)__builtin_clzll(x); }
RIPPLET_FN u32 count_ones(u32 x) { return (u32)__builtin_popcount(x); }
RIPPLET_FN u32 count_ones(u64 x) { return (u32)__builtin_popcountll(x); }
#endif
// Counts the bits below the lowest set bit.
RIPPLET_FN u32 trailing_zeros(u32 x) { return count_ones(~x & (x - 1u)); }
RIPPLET_FN u32 trailing_zeros(u64 x) { return count_ones(~x & (x - 1ull)); }
RIPPLET_FN u32 leading_zeros(i32 x) { return leading_zeros((u32)x); }
RIPPLET_FN u32 leading_zeros(i64 x) { return leading_zeros((u64)x); }
RIPPLET_FN u32 trailing_zeros(i32 x) { return trailing_zeros((u32)x); }
RIPPLET_FN u32 trailing_zeros(i64 x) { return trailing_zeros((u64)x); }
RIPPLET_FN u32 count_ones(i32 x) { return count_ones((u32)x); }
RIPPLET_FN u32 count_ones(i64 x) { return count_ones((u64)x); }

// --- Order ---

template <class T> RIPPLET_FN T min(T a, T b) { return a < b ? a : b; }
template <class T> RIPPLET_FN T max(T a, T b) { return a > b ? a : b; }
template <> RIPPLET_FN f32 min(f32 a, f32 b) { return a < b || is_nan(b) ? a : b; }
template <> RIPPLET_FN f32 max(f32 a, f32 b) { return a > b || is_nan(b) ? a : b; }
RIPPLET_FN u32 abs_diff(u32 a, u32 b) { return a < b ? b - a : a - b; }
RIPPLET_FN u64 abs_diff(u64 a, u64 b) { return a < b ? b - a : a - b; }
RIPPLET_FN u32 abs_diff(i32 a, i32 b) { return a < b ? (u32)b - (u32)a : (u32)a - (u32)b; }
RIPPLET_FN u64 abs_diff(i64 a, i64 b) { return a < b ? (u64)b - (u64)a : (u64)a - (u64)b; }

template <class T> RIPPLET_FN T pow(T base, u32 exponent) {
    T power = (T)1;
    for (; exponent != 0; exponent >>= 1) {
        if (exponent & 1u) power = mul(power, base);
        base = mul(base, base);
    }
    return power;
}

// --- 128-bit products ---

RIPPLET_FN u64 mul_high(u64 a, u64 b) {
#if RIPPLET_DEVICE
    return __umul64hi(a, b);
#else
    return (u64)(((unsigned __int128)a * b) >> 64);
#endif
}

RIPPLET_FN bool products_ge(u64 a, u64 b, u64 c, u64 d) {
    const u64 left = mul_high(a, b), right = mul_high(c, d);
    return left != right ? left > right : a * b >= c * d;
}

// --- Checked: the result, or `none` if Rust returns `None` ---

RIPPLET_FN u32 checked_add(u32 a, u32 b, u32 none) { return a + b < a ? none : a + b; }
RIPPLET_FN u64 checked_add(u64 a, u64 b, u64 none) { return a + b < a ? none : a + b; }
RIPPLET_FN u32 checked_sub(u32 a, u32 b, u32 none) { return a < b ? none : a - b; }
RIPPLET_FN u64 checked_sub(u64 a, u64 b, u64 none) { return a < b ? none : a - b; }
RIPPLET_FN u32 checked_mul(u32 a, u32 b, u32 none) {
    const u64 product = (u64)a * b;
    return product > U32_MAX ? none : (u32)product;
}
RIPPLET_FN u64 checked_mul(u64 a, u64 b, u64 none) { return mul_high(a, b) != 0 ? none : a * b; }

RIPPLET_FN i32 checked_narrow(i64 x, i32 none) {
    return x < I32_MIN || x > I32_MAX ? none : (i32)x;
}
RIPPLET_FN i32 checked_add(i32 a, i32 b, i32 none) { return checked_narrow((i64)a + b, none); }
RIPPLET_FN i32 checked_sub(i32 a, i32 b, i32 none) { return checked_narrow((i64)a - b, none); }
RIPPLET_FN i32 checked_mul(i32 a, i32 b, i32 none) { return checked_narrow((i64)a * b, none); }
RIPPLET_FN i64 checked_add(i64 a, i64 b, i64 none) {
    const i64 sum = add(a, b);
    return ((a ^ sum) & (b ^ sum)) < 0 ? none : sum;
}
RIPPLET_FN i64 checked_sub(i64 a, i64 b, i64 none) {
    const i64 difference = sub(a, b);
    return ((a ^ b) & (a ^ difference)) < 0 ? none : difference;
}
RIPPLET_FN i64 checked_mul(i64 a, i64 b, i64 none) {
    const u64 x = (u64)abs(a), y = (u64)abs(b), size = x * y;
    const bool negative = (a < 0) != (b < 0);
    const u64 most = (u64)I64_MAX + (negative ? 1u : 0u);
    if (mul_high(x, y) != 0 || size > most) return none;
    return negative ? (i64)(0ull - size) : (i64)size;
}

RIPPLET_FN u32 checked_div(u32 a, u32 b, u32 none) { return b == 0 ? none : a / b; }
RIPPLET_FN u64 checked_div(u64 a, u64 b, u64 none) { return b == 0 ? none : a / b; }
RIPPLET_FN i32 checked_div(i32 a, i32 b, i32 none) {
    return b == 0 || (a == I32_MIN && b == -1) ? none : a / b;
}
RIPPLET_FN i64 checked_div(i64 a, i64 b, i64 none) {
    return b == 0 || (a == I64_MIN && b == -1) ? none : a / b;
}
RIPPLET_FN u32 checked_rem(u32 a, u32 b, u32 none) { return b == 0 ? none : a % b; }
RIPPLET_FN u64 checked_rem(u64 a, u64 b, u64 none) { return b == 0 ? none : a % b; }
RIPPLET_FN i32 checked_rem(i32 a, i32 b, i32 none) {
    return b == 0 || (a == I32_MIN && b == -1) ? none : a % b;
}
RIPPLET_FN i64 checked_rem(i64 a, i64 b, i64 none) {
    return b == 0 || (a == I64_MIN && b == -1) ? none : a % b;
}
template <class T> RIPPLET_FN T checked_shl(T x, u32 by, T none) {
    return by >= 8 * sizeof(T) ? none : shl(x, by);
}
template <class T> RIPPLET_FN T checked_shr(T x, u32 by, T none) {
    return by >= 8 * sizeof(T) ? none : shr(x, by);
}

// --- Saturating: clamped to the range of the type ---

RIPPLET_FN u32 saturating_add(u32 a, u32 b) { return checked_add(a, b, U32_MAX); }
RIPPLET_FN u64 saturating_add(u64 a, u64 b) { return checked_add(a, b, U64_MAX); }
RIPPLET_FN u32 saturating_sub(u32 a, u32 b) { return checked_sub(a, b, 0u); }
RIPPLET_FN u64 saturating_sub(u64 a, u64 b) { return checked_sub(a, b, (u64)0); }
RIPPLET_FN u32 saturating_mul(u32 a, u32 b) { return checked_mul(a, b, U32_MAX); }
RIPPLET_FN u64 saturating_mul(u64 a, u64 b) { return checked_mul(a, b, U64_MAX); }
RIPPLET_FN i32 saturating_add(i32 a, i32 b) { return checked_add(a, b, a < 0 ? I32_MIN : I32_MAX); }
RIPPLET_FN i64 saturating_add(i64 a, i64 b) { return checked_add(a, b, a < 0 ? I64_MIN : I64_MAX); }
RIPPLET_FN i32 saturating_sub(i32 a, i32 b) { return checked_sub(a, b, a < 0 ? I32_MIN : I32_MAX); }
RIPPLET_FN i64 saturating_sub(i64 a, i64 b) { return checked_sub(a, b, a < 0 ? I64_MIN : I64_MAX); }
RIPPLET_FN i32 saturating_mul(i32 a, i32 b) {
    return checked_mul(a, b, (a < 0) != (b < 0) ? I32_MIN : I32_MAX);
}
RIPPLET_FN i64 saturating_mul(i64 a, i64 b) {
    return checked_mul(a, b, (a < 0) != (b < 0) ? I64_MIN : I64_MAX);
}

// --- Casts: integers are truncated or extended, floats saturate, NaN becomes 0 ---

RIPPLET_FN u32 to_u32(f32 x) {
    return !(x > 0.0f) ? 0u : x >= 4294967296.0f ? U32_MAX : (u32)x;
}
RIPPLET_FN u64 to_u64(f32 x) {
    return !(x > 0.0f) ? 0ull : x >= 18446744073709551616.0f ? U64_MAX : (u64)x;
}
RIPPLET_FN i32 to_i32(f32 x) {
    if (is_nan(x)) return 0;
    return x < -2147483648.0f ? I32_MIN : x >= 2147483648.0f ? I32_MAX : (i32)x;
}
RIPPLET_FN i64 to_i64(f32 x) {
    if (is_nan(x)) return 0;
    return x < -9223372036854775808.0f   ? I64_MIN
           : x >= 9223372036854775808.0f ? I64_MAX
                                         : (i64)x;
}
RIPPLET_FN f32 to_f32(f32 x) { return x; }
template <class T> RIPPLET_FN u32 to_u32(T x) { return (u32)x; }
template <class T> RIPPLET_FN u64 to_u64(T x) { return (u64)x; }
template <class T> RIPPLET_FN i32 to_i32(T x) { return (i32)x; }
template <class T> RIPPLET_FN i64 to_i64(T x) { return (i64)x; }
template <class T> RIPPLET_FN f32 to_f32(T x) { return (f32)x; }

}  // namespace ripplet

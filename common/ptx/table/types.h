// The types of PTX and sets of them, used in opcodes.def, modifiers.def and costs.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofwalk::ptx {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,  // 19 bits in 32: operands of matrix products
  f32,
  f64
};
int size_bytes(Type type);  // 0 for none and pred
std::string_view type_name(Type type);
bool is_float(Type type);
bool is_signed(Type type);
bool is_pair(Type type);  // two 16-bit floats in 32 bits

// Sets of types, one bit per Type.
using TypeSet = std::uint32_t;
constexpr TypeSet bit(Type type) { return TypeSet{1} << static_cast<unsigned>(type); }
inline constexpr TypeSet kNone = bit(Type::none), kPred = bit(Type::pred);
inline constexpr TypeSet kB8 = bit(Type::b8), kB16 = bit(Type::b16), kB32 = bit(Type::b32), kB64 = bit(Type::b64);
inline constexpr TypeSet kU8 = bit(Type::u8), kU16 = bit(Type::u16), kU32 = bit(Type::u32), kU64 = bit(Type::u64);
inline constexpr TypeSet kS8 = bit(Type::s8), kS16 = bit(Type::s16), kS32 = bit(Type::s32), kS64 = bit(Type::s64);
inline constexpr TypeSet kF16 = bit(Type::f16), kF32 = bit(Type::f32), kF64 = bit(Type::f64);
inline constexpr TypeSet kF16x2 = bit(Type::f16x2), kBf16 = bit(Type::bf16), kBf16x2 = bit(Type::bf16x2);
inline constexpr TypeSet kHalf = kF16 | kF16x2 | kBf16 | kBf16x2;
inline constexpr TypeSet kTf32 = bit(Type::tf32);
inline constexpr TypeSet kOfOperations = kBf16 | kBf16x2 | kTf32;  // not allowed for registers or variables
inline constexpr TypeSet kInt = kU16 | kS16 | kU32 | kS32 | kU64 | kS64;
inline constexpr TypeSet kNarrowInt = kU16 | kS16 | kU32 | kS32;
inline constexpr TypeSet kBits = kB16 | kB32 | kB64;
inline constexpr TypeSet kNumber = kU8 | kS8 | kInt | kF16 | kBf16 | kF32 | kF64;
inline constexpr TypeSet kAnyRegister = kPred | kBits | kInt | kF32 | kF64;
inline constexpr TypeSet kMemory = kB8 | kU8 | kS8 | kBits | kInt | kF16 | kF32 | kF64;
inline constexpr TypeSet kAtomic = kBits | kU32 | kS32 | kU64 | kS64 | kF16 | kF16x2 | kF32 | kF64;
inline constexpr TypeSet kFragment = kF16 | kBf16 | kTf32 | kF32 | kF64 | kU8 | kS8 | kS32;

}  // namespace roofwalk::ptx

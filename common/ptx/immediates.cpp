// Converts numbers to the bits of an operand's type.
#include <bit>

#include <fmt/format.h>

#include "common/ptx/table/refusal.h"
#include "common/ptx/validate.h"

namespace roofwalk::ptx {
namespace {

struct Complaint {
  std::string_view text;
  int ptx_line;

  [[noreturn]] void refuse(std::string_view why) const {
    throw Refusal{fmt::format("{} {}", in_quotes(text), why), ptx_line};
  }
};

// Returns the value's low bits, for signed types sign-extended to 64 bits. Refuses numbers that fit neither the signed
// nor the unsigned type of this width.
std::uint64_t integer_bits(std::uint64_t magnitude, bool negative, Type type, const Complaint& complaint) {
  const int width = 8 * size_bytes(type);
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t lowest = std::uint64_t{1} << (width - 1);
  if (negative ? magnitude > lowest : magnitude > mask) {
    complaint.refuse(fmt::format("has a number that does not fit {}", type_name(type)));
  }
  const std::uint64_t bits = (negative ? std::uint64_t{0} - magnitude : magnitude) & mask;
  return is_signed(type) && (bits & lowest) != 0 ? bits | ~mask : bits;
}

std::uint64_t float_bits(const Operand& operand, Written written, Type type, const Complaint& complaint) {
  const int size = size_bytes(type);
  // .b32 accepts a float only as a bit pattern of 32 bits (0f...), .b64 only as one of 64 bits (0d...) or in decimal.
  // .f32 and .f64 accept all of these and convert.
  const bool fits_untyped =
      (type == Type::b32 && written == Written::float32) || (type == Type::b64 && written == Written::float64);
  if (!fits_untyped && type != Type::f32 && type != Type::f64) complaint.refuse("takes no such float");
  std::uint64_t bits = operand.bits;
  if (written == Written::float32 && size == 8) {
    bits = std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  } else if (written == Written::float64 && size == 4) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  }
  return operand.negated ? bits ^ std::uint64_t{1} << (8 * size - 1) : bits;
}

}  // namespace

std::uint64_t immediate_bits(const Operand& operand, Type type, std::string_view text, int ptx_line) {
  const Complaint complaint{text, ptx_line};
  const auto written = static_cast<Written>(operand.component);
  if (type == Type::pred) {
    if (written != Written::integer) complaint.refuse("takes no float");
    return operand.bits != 0;
  }
  if (is_float(type) && type != Type::f32 && type != Type::f64) {
    complaint.refuse("takes no number; it wants a register, which mov.b16 or mov.b32 fills");
  }
  if (written != Written::integer) return float_bits(operand, written, type, complaint);
  if (is_float(type)) complaint.refuse("needs a float, such as 0f3F800000");
  return integer_bits(operand.bits, operand.negated, type, complaint);
}

}  // namespace roofwalk::ptx

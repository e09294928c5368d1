// What is known before a launch about the lanes of each register, as long as all 32 lanes of a warp run together: that
// they hold one value, or one value of the warp plus a step that every warp shares. Addresses and counters are nearly
// always so, and one number then stands for 32 (lockstep.h). A forward analysis over all definitions of a register,
// whatever their order; block shape and parameters are known, so what threads multiply their indices with is, too.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/vgpu/program/program.h"

namespace roofwalk::vgpu {

struct Shape {
  enum class Kind : std::uint8_t {
    unknown,   // nothing defines it, as far as seen
    constant,  // `value` in every lane of every warp
    uniform,   // one value in all lanes of a warp; predicates: all or none
    affine,    // lane l: lane 0's value + steps[l]
    varying
  };
  Kind kind = Kind::unknown;
  std::uint64_t value = 0;
  std::uint32_t steps = 0;  // affine: which of the analysis' steps; else 0, the steps that are all zero
  bool operator==(const Shape&) const = default;
  bool is_one_number() const { return kind != Kind::unknown && kind != Kind::varying; }
  bool is_uniform() const { return kind == Kind::constant || kind == Kind::uniform; }
};

// What an operation makes of its sources' shapes.
struct Effect {
  Shape shape;                  // of its results
  Handler on_lane_0 = nullptr;  // computes lane 0 of the result from lane 0 of the sources, which is enough where the
                                // result is one number; nullptr: only the handler of all lanes does
  int checked = -1;  // place in Op::s of an affine 32-bit source that is widened: right while no lane wraps around
  bool checked_signed = false;
  std::uint32_t checked_steps = 0;
};

// Whether it loads one of the kernel's own parameters, which lowering turns into a move of a constant.
bool is_kernel_parameter(const Op& op);

class AffineAnalysis {
 public:
  explicit AffineAnalysis(const Program& program);

  const Shape& shape(int reg) const { return shapes_[static_cast<std::size_t>(reg)]; }
  // Of an operation with an instruction.
  Effect effect_of(const Op& op) const;
  // Of the address that a load or store of memory starts from (its s[4]).
  Shape address_shape(const Op& op) const;
  const std::vector<Steps>& steps() const { return steps_; }

 private:
  void settle();
  bool apply(const Op& op);
  bool widen(int reg, const Shape& shape);

  Shape shape_of(const ptx::Operand& operand, Slot at, std::uint32_t bytes) const;
  Effect alu(const Op& op) const;
  Effect convert(const Op& op) const;
  Effect select(const Op& op) const;
  Effect compare(const Op& op) const;
  Effect load(const Op& op) const;

  Shape sum(const Shape& a, const Shape& b, bool negate_b, std::uint32_t bytes) const;
  Shape product(const Shape& a, const Shape& b, std::uint32_t bytes) const;
  Shape with_steps(const std::array<std::uint64_t, kWarpSize>& steps, std::uint32_t bytes) const;

  const Program& program_;
  std::vector<Shape> shapes_;  // by register
  // Found while the analysis runs, and asked for again by whoever uses it.
  mutable std::vector<Steps> steps_;
  mutable std::map<std::array<std::uint64_t, kWarpSize>, std::uint32_t> numbers_of_steps_;
};

}  // namespace roofwalk::vgpu

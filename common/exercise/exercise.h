// A chapter's definition of its problem: inputs, reference, work, tolerance. It does not grade, time or print.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "common/roofline/operations.h"

namespace roofwalk {

// Named extents in the order of the manifest: {"m", 512}, {"n", 512}, {"k", 512}.
class Size {
 public:
  Size() = default;
  explicit Size(std::vector<std::pair<std::string, std::int64_t>> values) : values_(std::move(values)) {}

  // Returns the extent of that name, which must exist.
  std::int64_t operator[](std::string_view name) const;
  const std::vector<std::pair<std::string, std::int64_t>>& values() const { return values_; }
  std::string text() const;  // "m=512 n=512 k=512"
  bool operator==(const Size&) const = default;

 private:
  std::vector<std::pair<std::string, std::int64_t>> values_;
};

// Element type on the device. On the host, inputs are floats in all cases; those of i32 are whole numbers, of magnitude
// below kWholeLimit, which floats represent exactly. Outputs of i32 are compared as integers, exactly.
enum class Element { f32, f16, i32 };
inline constexpr float kWholeLimit = 1 << 24;
constexpr std::uint32_t element_bytes(Element element) { return element == Element::f16 ? 2 : 4; }

// The kinds of SOLVE's parameters.
struct InputBuffer {
  std::string name;
  std::vector<float> values;  // exactly representable in the element type
  Element element = Element::f32;
};
struct OutputBuffer {
  std::string name;
  std::int64_t count = 0;  // elements
  Element element = Element::f32;
};
struct Scalar {
  std::string name;
  std::variant<std::int32_t, float> value;
};
using Parameter = std::variant<InputBuffer, OutputBuffer, Scalar>;

struct Problem {
  std::vector<Parameter> parameters;

  // Returns the values of the input buffer of that name, which must exist.
  const std::vector<float>& input(std::string_view name) const;
};

// The expected values of one output, and the tolerance of each element.
struct Expected {
  std::string name;                // of the OutputBuffer
  std::vector<double> values;      // finite
  std::vector<double> tolerances;  // absolute, per element: errors of fp32 are within it, errors of half precision
                                   // are not
  std::int64_t row_length = 0;     // > 0: messages give [row, column]
};

class Exercise {
 public:
  virtual ~Exercise() = default;
  virtual Work work(const Size& size) const = 0;

  // Returns the parameters of SOLVE at that size. The same seed gives the same inputs on every machine.
  virtual Problem problem(const Size& size, std::uint64_t seed) const = 0;

  // Returns the expected values of every output, computed in double from the inputs.
  virtual std::vector<Expected> reference(const Size& size, const Problem& problem) const = 0;
};

// Each exercise.cpp registers its exercise under the chapter's name: `ROOFWALK_EXERCISE("vector-add", VectorAdd);`
using ExerciseFactory = std::unique_ptr<Exercise> (*)();
bool register_exercise(std::string_view chapter, ExerciseFactory factory);
const Exercise* find_exercise(std::string_view chapter);  // nullptr if none is registered

#define ROOFWALK_EXERCISE(chapter, Type)                                                  \
  [[maybe_unused]] static const bool roofwalk_registered = ::roofwalk::register_exercise( \
      chapter, [] { return std::unique_ptr<::roofwalk::Exercise>(std::make_unique<Type>()); })

}  // namespace roofwalk

// A value or an error with its location. Learners' mistakes are returned as Error values; programmers' mistakes end the
// program through ROOFWALK_CHECK.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "common/base/check.h"

namespace roofwalk {

// The mistake, its location and advice. `file` is empty if no file is at fault, `line` is 0 if no line is.
struct Error {
  std::string message;
  std::string file = {};
  int line = 0;
  std::string advice = {};

  // Returns one line: "file:line: message (advice)", without empty parts.
  std::string text() const;
};

// Either a T or an Error. Accessing the one that is absent is a programmer's mistake and ends the program.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { return get(*this); }
  const T& value() const& { return get(*this); }
  T&& value() && { return std::move(get(*this)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    ROOFWALK_CHECK(!ok());
    return std::get<1>(state_);
  }

 private:
  template <class Self>
  static auto& get(Self& self) {
    ROOFWALK_CHECK(self.ok());
    return std::get<0>(self.state_);
  }

  std::variant<T, Error> state_;
};

// For functions that return nothing but may fail: `return kOk;`
struct Ok {};
inline constexpr Ok kOk{};
using Status = Result<Ok>;

}  // namespace roofwalk

// Returns the error to the caller: ROOFWALK_TRY(auto value, function());
#define ROOFWALK_CONCAT_(a, b) a##b
#define ROOFWALK_CONCAT(a, b) ROOFWALK_CONCAT_(a, b)
#define ROOFWALK_TRY(declaration, expression) \
  ROOFWALK_TRY_(ROOFWALK_CONCAT(roofwalk_result_, __LINE__), declaration, expression)
#define ROOFWALK_TRY_(result, declaration, expression) \
  auto result = (expression);                          \
  if (!result) return result.error();                  \
  declaration = std::move(*result)
#define ROOFWALK_TRY_STATUS(expression)                                                        \
  do {                                                                                         \
    if (auto roofwalk_status = (expression); !roofwalk_status) return roofwalk_status.error(); \
  } while (false)

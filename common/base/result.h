// A value or an error with its location. Learners' mistakes are returned as Error values; programmers' mistakes end the
// program through ROOFWALK_CHECK.
#pragma once

#include <new>
#include <string>
#include <utility>

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

// Either a T or an Error. Accessing the one that is absent is a programmer's mistake and ends the program. A union,
// because a std::variant for each T takes the compiler longer: 7 % of its time in the mean of eight files.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : is_ok_(true), value_(std::move(value)) {}
  Result(Error error) : is_ok_(false), error_(std::move(error)) {}
  Result(Result&& other) noexcept : is_ok_(other.is_ok_) { take(std::move(other)); }
  Result(const Result& other) : is_ok_(other.is_ok_) { take(other); }
  Result& operator=(Result other) noexcept {
    destroy();
    is_ok_ = other.is_ok_;
    take(std::move(other));
    return *this;
  }
  ~Result() { destroy(); }

  bool ok() const { return is_ok_; }
  explicit operator bool() const { return is_ok_; }

  T& value() & { return get(*this); }
  const T& value() const& { return get(*this); }
  T&& value() && { return std::move(get(*this)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    ROOFWALK_CHECK(!is_ok_);
    return error_;
  }

 private:
  template <class Self>
  static auto& get(Self& self) {
    ROOFWALK_CHECK(self.is_ok_);
    return self.value_;
  }

  // Constructs the part that there is, from that of `other`, which has the same.
  template <class Other>
  void take(Other&& other) {
    if (is_ok_) {
      ::new (static_cast<void*>(&value_)) T(std::forward<Other>(other).value_);
    } else {
      ::new (static_cast<void*>(&error_)) Error(std::forward<Other>(other).error_);
    }
  }

  void destroy() {
    if (is_ok_) {
      value_.~T();
    } else {
      error_.~Error();
    }
  }

  bool is_ok_;
  union {
    T value_;
    Error error_;
  };
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

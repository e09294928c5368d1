// A JSON value. nlohmann/json reads and writes the text, but only json.cpp includes that library: its class templates
// cost every file that includes them one to three seconds of compile time.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/json_fwd.h"

namespace roofwalk {

// A value has another type than the caller asked for, or an object lacks a member.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class T>
concept JsonText = std::convertible_to<const T&, std::string_view>;

// std::vector, std::array, std::map and the like; not paths, which are ranges of paths.
template <class T>
concept JsonRange =
    !std::same_as<T, Json> && !JsonText<T> && !std::convertible_to<const T&, std::string> && requires(const T& range) {
  range.begin();
  range.end();
};

// Objects keep their insertion order, so that records read well and compare byte for byte. Whole numbers keep 64 bits.
class Json {
 public:
  struct Member {
    const std::string& key;
    const Json& value;
  };

  Json();  // null
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  Json(std::nullptr_t) : Json() {}
  Json(std::string text);
  template <JsonText T>
  Json(const T& text) : Json(std::string(std::string_view(text))) {}
  template <class T>
  requires std::is_arithmetic_v<T> Json(T number) : Json() {
    if constexpr (std::same_as<T, bool>) {
      set_whole(Kind::boolean, number ? 1 : 0);
    } else if constexpr (std::floating_point<T>) {
      set_real(static_cast<double>(number));
    } else if constexpr (std::unsigned_integral<T>) {
      set_whole(Kind::whole_unsigned, number);
    } else {
      set_whole(Kind::whole_signed, static_cast<std::uint64_t>(static_cast<std::int64_t>(number)));
    }
  }
  // A range of pairs whose first members are texts becomes an object, any other range an array.
  template <JsonRange R>
  Json(const R& range) : Json() {
    if constexpr (requires { requires JsonText<decltype(range.begin()->first)>; }) {
      become_object();
      for (const auto& [key, value] : range) (*this)[key] = Json(value);
    } else {
      become_array();
      for (const auto& item : range) push_back(Json(item));
    }
  }
  // An object if each value is an array of a text and another value, as in {{"key", 1}}; otherwise an array.
  Json(std::initializer_list<Json> values);
  static Json array(std::initializer_list<Json> values = {});
  static Json object(std::initializer_list<Json> members = {});
  static Json discarded();

  bool is_null() const { return kind_ == Kind::null; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_number_integer() const { return kind_ == Kind::whole_signed || kind_ == Kind::whole_unsigned; }
  bool is_number_unsigned() const { return kind_ == Kind::whole_unsigned; }
  bool is_number_float() const { return kind_ == Kind::real; }
  bool is_number() const { return is_number_integer() || is_number_float(); }
  bool is_string() const { return kind_ == Kind::text; }
  bool is_array() const { return kind_ == Kind::array; }
  bool is_object() const { return kind_ == Kind::object; }
  bool is_structured() const { return is_array() || is_object(); }
  bool is_discarded() const { return kind_ == Kind::discarded; }  // the result of parsing what is not JSON

  // T: bool, a number, std::string, or a vector or a map of these. Any number converts to any type of numbers. Throws
  // JsonError.
  template <class T>
  T get() const {
    if constexpr (std::same_as<T, Json>) {
      return *this;
    } else if constexpr (std::same_as<T, bool>) {
      return as_boolean();
    } else if constexpr (std::floating_point<T>) {
      return static_cast<T>(as_real());
    } else if constexpr (std::integral<T>) {
      return static_cast<T>(as_whole());
    } else if constexpr (std::same_as<T, std::string>) {
      return text();
    } else if constexpr (requires { typename T::mapped_type; }) {
      T out;
      for (const auto& [key, value] : items()) out.emplace(key, value.template get<typename T::mapped_type>());
      return out;
    } else {
      T out;
      for (const Json& item : as_array()) out.push_back(item.template get<typename T::value_type>());
      return out;
    }
  }
  const std::string& text() const;  // throws JsonError if this is no string
  std::string& text();

  // Members. operator[] adds a missing member, and turns null into an object; at() and the const operator[] throw
  // JsonError.
  Json& operator[](std::string_view key);
  const Json& operator[](std::string_view key) const { return at(key); }
  Json& at(std::string_view key);
  const Json& at(std::string_view key) const;
  bool contains(std::string_view key) const { return member(key) != nullptr; }
  Json* member(std::string_view key);  // null if there is none
  const Json* member(std::string_view key) const;
  void erase(std::string_view key);
  void update(const Json& object);  // adds its members or replaces those of the same names
  template <class T>
  T value(std::string_view key, const T& otherwise) const {
    const Json* found = member(key);
    return found == nullptr ? otherwise : found->template get<T>();
  }
  std::string value(std::string_view key, const char* otherwise) const { return value(key, std::string(otherwise)); }
  // Reads a member that may be missing or of another type: an empty text, or nullopt.
  std::string text_of(std::string_view key) const;
  std::optional<double> number_of(std::string_view key) const;
  std::vector<Member> items() const;  // an object's members

  // Items. push_back turns null into an array. Throws JsonError for an index out of range.
  template <std::integral I>
  Json& operator[](I index) {
    return item(static_cast<std::size_t>(index));
  }
  template <std::integral I>
  const Json& operator[](I index) const {
    return item(static_cast<std::size_t>(index));
  }
  Json& at(std::size_t index) { return item(index); }
  const Json& at(std::size_t index) const { return item(index); }
  Json& front() { return item(0); }
  const Json& front() const { return item(0); }
  Json& back() { return item(size() - 1); }
  const Json& back() const { return item(size() - 1); }
  void push_back(Json item);

  // The items of an array or the values of an object's members; nothing for other values.
  Json* begin() { return items_.data(); }
  Json* end() { return items_.data() + items_.size(); }
  const Json* begin() const { return items_.data(); }
  const Json* end() const { return items_.data() + items_.size(); }
  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }

  // Numbers are compared by value, whatever their types; members in their order.
  friend bool operator==(const Json& left, const Json& right) { return left.equals(right); }
  // Writes json_line(), for messages of tests. A friend, so that no other type is converted to Json to be written.
  friend std::ostream& operator<<(std::ostream& out, const Json& json) { return json.write(out); }

 private:
  enum class Kind : std::uint8_t { null, boolean, whole_signed, whole_unsigned, real, text, array, object, discarded };

  friend class JsonWriter;

  void set_whole(Kind kind, std::uint64_t bits);
  void set_real(double number);
  void become_array();
  void become_object();
  bool as_boolean() const;
  double as_real() const;
  std::int64_t as_whole() const;
  const std::vector<Json>& as_array() const;
  Json& item(std::size_t index);
  const Json& item(std::size_t index) const;
  bool equals(const Json& other) const;
  std::ostream& write(std::ostream& out) const;

  Kind kind_ = Kind::null;
  std::uint64_t whole_ = 0;  // of booleans and whole numbers; two's complement if signed
  double real_ = 0;
  std::string text_;
  std::vector<std::string> keys_;  // an object's, in the order of items_
  std::vector<Json> items_;        // of an array, or the values of an object
};

// Returns a discarded value (`is_discarded()`) if `text` is not JSON or nests more than 100 levels.
Json parse_json(std::string_view text);

// The following functions never fail: bytes that are not UTF-8 become U+FFFD.
std::string json_line(const Json& json);        // one line, without a newline
std::string json_line_ascii(const Json& json);  // the same, with non-ASCII characters escaped
std::string json_text(const Json& json);        // indented by two
std::string valid_utf8(std::string_view text);

}  // namespace roofwalk

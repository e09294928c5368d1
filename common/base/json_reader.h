// Reads untrusted JSON: each member is read by name and its type and bounds are checked; unknown members are refused.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/json.h"
#include "common/base/result.h"

namespace roofwalk {

// Keeps the first error: after it, reads do nothing, and end() returns it. `what` names the object in messages: "the
// record: `elapsed_ns` must be a number from 0 to 1e18". If a value is refused, `out` is unchanged.
class JsonReader {
 public:
  JsonReader(const Json& object, std::string_view what);

  void text(const char* key, std::string& out, std::size_t most_bytes = 4096);
  void flag(const char* key, bool& out);
  void number(const char* key, double& out, double most = 1e18) { take_number(member(key), key, out, most); }

  template <std::integral Int>
  void whole(const char* key, Int& out, Int least = 0, Int most = std::numeric_limits<Int>::max()) {
    take_whole(member(key), key, out, least, most);
  }

  // Calls read(item) -> Status for each item of an array of at most `most` items.
  template <class Read>
  void each(const char* key, std::size_t most, Read read) {
    const Json* array = member(key);
    if (array == nullptr) return;
    if (!array->is_array() || array->size() > most) return refuse_array(key, "at most", most);
    for (const Json& item : *array) {
      if (trouble_) return;
      keep(read(item));
    }
  }

  // Calls read(value) -> Status with the member's value.
  template <class Read>
  void with(const char* key, Read read) {
    if (const Json* value = member(key); value != nullptr) keep(read(*value));
  }

  // Like with(), but does nothing if the member is null.
  template <class Read>
  void unless_null(const char* key, Read read) {
    if (const Json* value = member(key); value != nullptr && !value->is_null()) keep(read(*value));
  }

  // Calls take(item, index) for each item, in order, of an array of exactly `count` items.
  template <class Take>
  void exactly(const char* key, std::size_t count, Take take) {
    const Json* array = member(key);
    if (array == nullptr) return;
    if (!array->is_array() || array->size() != count) return refuse_array(key, "exactly", count);
    for (std::size_t i = 0; i < count && !trouble_; ++i) take((*array)[i], i);
  }

  // These check one value that was read from `key`, and put it into `out`.
  void take_number(const Json* value, const char* key, double& out, double most = 1e18);
  template <std::integral Int>
  void take_whole(const Json* value, const char* key, Int& out, Int least = 0,
                  Int most = std::numeric_limits<Int>::max());

  void keep(const Status& status);
  void fail(std::string message);  // "the record: MESSAGE"
  bool failed() const { return trouble_.has_value(); }

  // Returns the first error or, if there was none, an Error if the object has members that were not read.
  Status end();

 private:
  const Json* member(const char* key);  // null if the member is missing or an error occurred before
  void refuse_array(const char* key, const char* how_many, std::size_t count);

  const Json& object_;
  std::string what_;
  std::size_t taken_ = 0;
  std::optional<Error> trouble_;
};

template <std::integral Int>
void JsonReader::take_whole(const Json* value, const char* key, Int& out, Int least, Int most) {
  if (value == nullptr) return;
  const auto fits = [&](auto number) {
    return std::cmp_less_equal(least, number) && std::cmp_less_equal(number, most);
  };
  if (value->is_number_unsigned() && fits(value->get<std::uint64_t>())) {
    out = static_cast<Int>(value->get<std::uint64_t>());
    return;
  }
  if (value->is_number_integer() && !value->is_number_unsigned() && fits(value->get<std::int64_t>())) {
    out = static_cast<Int>(value->get<std::int64_t>());
    return;
  }
  fail(std::string("`") + key + "` must be a whole number from " + std::to_string(least) + " to " +
       std::to_string(most));
}

}  // namespace roofwalk

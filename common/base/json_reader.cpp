#include "common/base/json_reader.h"

#include <fmt/format.h>

namespace roofwalk {

JsonReader::JsonReader(const Json& object, std::string_view what) : object_(object), what_(what) {
  if (!object_.is_object()) fail("must be an object");
}

const Json* JsonReader::member(const char* key) {
  if (trouble_) return nullptr;
  const Json* value = object_.member(key);
  if (value == nullptr) {
    fail(fmt::format("`{}` is missing", key));
    return nullptr;
  }
  ++taken_;
  return value;
}

void JsonReader::text(const char* key, std::string& out, std::size_t most_bytes) {
  const Json* value = member(key);
  if (value == nullptr) return;
  if (!value->is_string() || value->text().size() > most_bytes) {
    return fail(fmt::format("`{}` must be a text of at most {} bytes", key, most_bytes));
  }
  out = value->text();
}

void JsonReader::flag(const char* key, bool& out) {
  const Json* value = member(key);
  if (value == nullptr) return;
  if (!value->is_boolean()) return fail(fmt::format("`{}` must be true or false", key));
  out = value->get<bool>();
}

void JsonReader::take_number(const Json* value, const char* key, double& out, double most) {
  if (value == nullptr) return;
  const double number = value->is_number() ? value->get<double>() : -1;
  // Written so that NaN is also refused.
  if (!(number >= 0 && number <= most)) return fail(fmt::format("`{}` must be a number from 0 to {}", key, most));
  out = number;
}

void JsonReader::keep(const Status& status) {
  if (!trouble_ && !status) trouble_ = status.error();
}

void JsonReader::fail(std::string message) {
  if (!trouble_) trouble_ = Error{.message = fmt::format("{}: {}", what_, message)};
}

void JsonReader::refuse_array(const char* key, const char* how_many, std::size_t count) {
  fail(fmt::format("`{}` must be an array of {} {} items", key, how_many, count));
}

Status JsonReader::end() {
  if (!trouble_ && object_.size() != taken_) fail("holds a member that nobody knows");
  if (trouble_) return *trouble_;
  return kOk;
}

}  // namespace roofwalk

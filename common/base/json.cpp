#include "common/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

namespace roofwalk {

Json::Json() = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(std::string text) : kind_(Kind::text), text_(std::move(text)) {}

Json::Json(std::initializer_list<Json> values) {
  const bool has_members = std::all_of(values.begin(), values.end(), [](const Json& value) {
    return value.is_array() && value.size() == 2 && value.front().is_string();
  });
  *this = has_members && values.size() > 0 ? object(values) : array(values);
}

Json Json::array(std::initializer_list<Json> values) {
  Json json;
  json.become_array();
  json.items_ = values;
  return json;
}

Json Json::object(std::initializer_list<Json> members) {
  Json json;
  json.become_object();
  for (const Json& member : members) json[member.at(0).text()] = member.at(1);
  return json;
}

Json Json::discarded() {
  Json json;
  json.kind_ = Kind::discarded;
  return json;
}

void Json::set_whole(Kind kind, std::uint64_t bits) {
  kind_ = kind;
  whole_ = bits;
}

void Json::set_real(double number) {
  kind_ = Kind::real;
  real_ = number;
}

void Json::become_array() { kind_ = Kind::array; }

void Json::become_object() { kind_ = Kind::object; }

bool Json::as_boolean() const {
  if (!is_boolean()) throw JsonError("a value is neither true nor false");
  return whole_ != 0;
}

double Json::as_real() const {
  switch (kind_) {
    case Kind::whole_signed:
      return static_cast<double>(static_cast<std::int64_t>(whole_));
    case Kind::whole_unsigned:
      return static_cast<double>(whole_);
    case Kind::real:
      return real_;
    default:
      throw JsonError("a value is no number");
  }
}

std::int64_t Json::as_whole() const {
  if (is_number_integer()) return static_cast<std::int64_t>(whole_);
  const double number = as_real();
  if (!(std::abs(number) < 0x1p63)) throw JsonError("a number does not fit a whole number");
  return static_cast<std::int64_t>(number);
}

const std::vector<Json>& Json::as_array() const {
  if (!is_array()) throw JsonError("a value is no array");
  return items_;
}

const std::string& Json::text() const {
  if (!is_string()) throw JsonError("a value is no text");
  return text_;
}

std::string& Json::text() { return const_cast<std::string&>(std::as_const(*this).text()); }

Json& Json::operator[](std::string_view key) {
  if (is_null()) become_object();
  if (Json* found = member(key); found != nullptr) return *found;
  if (!is_object()) throw JsonError(fmt::format("a value without members is asked for `{}`", key));
  keys_.emplace_back(key);
  return items_.emplace_back();
}

const Json& Json::at(std::string_view key) const {
  const Json* found = member(key);
  if (found == nullptr) throw JsonError(fmt::format("`{}` is missing", key));
  return *found;
}

Json& Json::at(std::string_view key) { return const_cast<Json&>(std::as_const(*this).at(key)); }

const Json* Json::member(std::string_view key) const {
  const auto place = std::find(keys_.begin(), keys_.end(), key);
  return place == keys_.end() ? nullptr : &items_[static_cast<std::size_t>(place - keys_.begin())];
}

Json* Json::member(std::string_view key) { return const_cast<Json*>(std::as_const(*this).member(key)); }

void Json::erase(std::string_view key) {
  const auto place = std::find(keys_.begin(), keys_.end(), key) - keys_.begin();
  if (place == std::ssize(keys_)) return;
  keys_.erase(keys_.begin() + place);
  items_.erase(items_.begin() + place);
}

void Json::update(const Json& object) {
  for (const auto& [key, value] : object.items()) (*this)[key] = value;
}

std::string Json::text_of(std::string_view key) const {
  const Json* found = member(key);
  return found != nullptr && found->is_string() ? found->text_ : std::string();
}

std::optional<double> Json::number_of(std::string_view key) const {
  const Json* found = member(key);
  return found != nullptr && found->is_number() ? std::optional(found->as_real()) : std::nullopt;
}

std::vector<Json::Member> Json::items() const {
  std::vector<Member> members;
  members.reserve(keys_.size());
  for (std::size_t i = 0; i < keys_.size(); ++i) members.push_back({keys_[i], items_[i]});
  return members;
}

const Json& Json::item(std::size_t index) const {
  if (index >= items_.size()) throw JsonError(fmt::format("item {} of {} is asked for", index, items_.size()));
  return items_[index];
}

Json& Json::item(std::size_t index) { return const_cast<Json&>(std::as_const(*this).item(index)); }

void Json::push_back(Json item) {
  if (is_null()) become_array();
  if (!is_array()) throw JsonError("an item is added to a value that is no array");
  items_.push_back(std::move(item));
}

bool Json::equals(const Json& other) const {
  if (is_number() && other.is_number()) {
    if (is_number_float() || other.is_number_float()) return as_real() == other.as_real();
    const auto is_negative = [](const Json& json) {
      return json.kind_ == Kind::whole_signed && static_cast<std::int64_t>(json.whole_) < 0;
    };
    return whole_ == other.whole_ && is_negative(*this) == is_negative(other);
  }
  return kind_ == other.kind_ && whole_ == other.whole_ && text_ == other.text_ && keys_ == other.keys_ &&
         items_ == other.items_;
}

namespace {

using Library = nlohmann::ordered_json;

// Builds a value from the events of the library's parser.
class Reader {
 public:
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t number) { return add(number); }
  bool number_unsigned(std::uint64_t number) { return add(number); }
  bool number_float(double number, const std::string& /*digits*/) { return add(number); }
  bool string(std::string& text) { return add(std::move(text)); }
  bool binary(Library::binary_t& /*bytes*/) { return false; }  // not in text
  bool key(std::string& name) {
    key_ = std::move(name);
    return true;
  }
  bool start_object(std::size_t /*size*/) { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/, const nlohmann::detail::exception& /*error*/) {
    return false;
  }

  Json result;

 private:
  // Values are destroyed and written by recursion, so their depth is bounded.
  static constexpr std::size_t kMaxDepth = 100;

  Json& place(Json value) {
    if (open_.empty()) return result = std::move(value);
    Json& outer = *open_.back();
    if (outer.is_object()) return outer[key_] = std::move(value);
    outer.push_back(std::move(value));
    return outer.back();
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  // Pointers to open values stay valid, because an outer value does not grow while an inner one is open.
  bool open(Json value) {
    open_.push_back(&place(std::move(value)));
    return open_.size() <= kMaxDepth;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::vector<Json*> open_;
  std::string key_;
};

}  // namespace

class JsonWriter {
 public:
  static Library library_of(const Json& json) {
    switch (json.kind_) {
      case Json::Kind::boolean:
        return json.whole_ != 0;
      case Json::Kind::whole_signed:
        return static_cast<std::int64_t>(json.whole_);
      case Json::Kind::whole_unsigned:
        return json.whole_;
      case Json::Kind::real:
        return json.real_;
      case Json::Kind::text:
        return json.text_;
      case Json::Kind::array: {
        Library out = Library::array();
        for (const Json& item : json) out.push_back(library_of(item));
        return out;
      }
      case Json::Kind::object: {
        Library out = Library::object();
        for (const auto& [key, value] : json.items()) out[key] = library_of(value);
        return out;
      }
      case Json::Kind::discarded:
        return Library(Library::value_t::discarded);
      case Json::Kind::null:
        break;
    }
    return nullptr;
  }
};

namespace {

std::string written(const Json& json, int indent, bool ascii) {
  return JsonWriter::library_of(json).dump(indent, ' ', ascii, Library::error_handler_t::replace);
}

}  // namespace

Json parse_json(std::string_view text) {
  Reader reader;
  if (!Library::sax_parse(text, &reader)) return Json::discarded();
  return std::move(reader.result);
}

std::string json_line(const Json& json) { return written(json, -1, /*ascii=*/false); }

std::string json_line_ascii(const Json& json) { return written(json, -1, /*ascii=*/true); }

std::string json_text(const Json& json) { return written(json, 2, /*ascii=*/false); }

std::string valid_utf8(std::string_view text) {
  // The serializer replaces invalid bytes. It also escapes some characters, so its output is parsed again.
  return parse_json(json_line(Json(text))).text();
}

std::ostream& Json::write(std::ostream& out) const { return out << json_line(*this); }

}  // namespace roofwalk

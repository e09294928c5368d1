#include "common/vgpu/exec/print.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <utility>

namespace roofwalk::vgpu {
namespace {

constexpr int kMostArguments = 32;  // the limit of CUDA (CUDA C++ Programming Guide, formatted output)
constexpr int kMostWidth = 1024;    // larger widths and precisions are reduced to this

struct Conversion {
  std::string flags;
  int width = -1, precision = -1;  // -1: not given
  bool is_long = false;            // l, ll: 8 bytes
  bool is_short = false;           // h: 2 bytes of an int
  char type = 0;
};

std::string padded(const Conversion& c, std::string text) {
  const auto width = static_cast<std::size_t>(std::max(c.width, 0));
  if (text.size() >= width) return text;
  const bool left = c.flags.find('-') != std::string::npos;
  text.insert(left ? text.size() : 0, width - text.size(), ' ');
  return text;
}

// The C library formats numbers, as in the CUDA driver.
template <class T>
std::string by_library(const Conversion& c, const char* size, T value) {
  std::string spec(1, '%');
  spec.append(c.flags);
  if (c.width >= 0) spec.append(std::to_string(c.width));
  if (c.precision >= 0) spec.append(1, '.').append(std::to_string(c.precision));
  spec.append(size).append(1, c.type);
  const int length = std::snprintf(nullptr, 0, spec.c_str(), value);
  std::string out(static_cast<std::size_t>(std::max(length, 0)) + 1, '\0');
  std::snprintf(out.data(), out.size(), spec.c_str(), value);
  out.pop_back();
  return out;
}

class Formatter {
 public:
  Formatter(std::string_view format, const PrintSource& source) : format_(format), source_(source) {}

  Formatted run() {
    while (at_ < format_.size() && out_.text.size() < kMostPrinted) {
      if (format_[at_] != '%') {
        out_.text += format_[at_++];
      } else if (const std::size_t start = at_; !convert()) {
        out_.text += format_.substr(start, at_ - start);
      }
    }
    out_.text.resize(std::min(out_.text.size(), kMostPrinted));
    return std::move(out_);
  }

 private:
  bool take(char c) {
    if (at_ >= format_.size() || format_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<std::uint64_t> argument(std::uint32_t bytes) {
    if (out_.arguments >= kMostArguments) return std::nullopt;
    const auto value = source_.next(bytes);
    if (value) ++out_.arguments;
    return value;
  }

  // Parses a number, or `*` for an argument. Leaves `value` as it is if there is neither. False if the argument is
  // missing.
  bool number(int& value) {
    if (take('*')) {
      const auto given = argument(4);
      if (!given) return false;
      value = std::clamp(static_cast<int>(static_cast<std::uint32_t>(*given)), -kMostWidth, kMostWidth);
      return true;
    }
    while (at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9') {
      value = std::min(std::max(value, 0) * 10 + (format_[at_++] - '0'), kMostWidth);
    }
    return true;
  }

  // Parses a conversion, starting at the `%`, and moves `at_` behind it. False if it is invalid or its argument is
  // missing.
  bool convert() {
    ++at_;
    Conversion c;
    if (take('%')) {
      out_.text += '%';
      return true;
    }
    while (at_ < format_.size() && std::string_view("-+ #0").find(format_[at_]) != std::string_view::npos) {
      if (c.flags.find(format_[at_]) == std::string::npos) c.flags += format_[at_];
      ++at_;
    }
    if (!number(c.width)) return false;
    if (c.width < -1) {
      c.flags += '-';
      c.width = -c.width;
    }
    if (take('.')) {
      c.precision = 0;
      if (!number(c.precision)) return false;
      c.precision = std::max(c.precision, -1);
    }
    while (at_ < format_.size() && (format_[at_] == 'h' || format_[at_] == 'l')) {
      (format_[at_++] == 'l' ? c.is_long : c.is_short) = true;
    }
    if (at_ >= format_.size()) return false;
    c.type = format_[at_++];
    return put(c);
  }

  bool put(const Conversion& c) {
    switch (c.type) {
      case 'd':
      case 'i': {
        const auto bits = argument(c.is_long ? 8 : 4);
        if (!bits) return false;
        long long value = c.is_long ? static_cast<long long>(*bits) : static_cast<std::int32_t>(*bits);
        if (c.is_short) value = static_cast<std::int16_t>(*bits);
        out_.text += by_library(c, "ll", value);
        return true;
      }
      case 'u':
      case 'o':
      case 'x':
      case 'X': {
        const auto bits = argument(c.is_long ? 8 : 4);
        if (!bits) return false;
        unsigned long long value = c.is_long ? *bits : static_cast<std::uint32_t>(*bits);
        if (c.is_short) value = static_cast<std::uint16_t>(*bits);
        out_.text += by_library(c, "ll", value);
        return true;
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        const auto bits = argument(8);
        if (!bits) return false;
        out_.text += by_library(c, "", std::bit_cast<double>(*bits));
        return true;
      }
      case 'c': {
        const auto bits = argument(4);
        if (!bits) return false;
        out_.text += padded(c, std::string(1, static_cast<char>(*bits)));
        return true;
      }
      case 'p': {
        const auto bits = argument(8);
        if (!bits) return false;
        char digits[32];
        std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(*bits));
        out_.text += padded(c, digits);
        return true;
      }
      case 's': {
        const auto bits = argument(8);
        if (!bits) return false;
        std::string text = *bits == 0 ? "(null)" : source_.text(*bits).value_or("(no text there)");
        if (c.precision >= 0) text.resize(std::min(text.size(), static_cast<std::size_t>(c.precision)));
        out_.text += padded(c, std::move(text));
        return true;
      }
      default:
        return false;
    }
  }

  std::string_view format_;
  const PrintSource& source_;
  std::size_t at_ = 0;
  Formatted out_;
};

// The length of the UTF-8 sequence at `at`; 0 if there is none.
std::size_t sequence_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const unsigned char first = byte(at);
  const std::size_t length = first < 0x80                     ? 1
                             : first >= 0xc2 && first <= 0xdf ? 2
                             : (first & 0xf0) == 0xe0         ? 3
                             : first >= 0xf0 && first <= 0xf4 ? 4
                                                              : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  }
  const unsigned char second = byte(at + 1);
  const bool odd = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                   (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return odd ? 0 : length;
}

// The text as valid UTF-8 without control characters, for terminals and JSON.
std::string made_safe(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_at(text, at);
    const auto c = static_cast<unsigned char>(text[at]);
    const bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ||
                         (length == 2 && c == 0xc2 && static_cast<unsigned char>(text[at + 1]) < 0xa0);
    if (length == 0 || control) {
      out += '?';
    } else {
      out += text.substr(at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  return out;
}

}  // namespace

Formatted format_print(std::string_view format, const PrintSource& source) {
  Formatted out = Formatter(format, source).run();
  out.text = made_safe(out.text);
  return out;
}

bool Printer::wants(std::uint64_t block, std::uint32_t thread) const {
  return bytes_ < kMostBytes || kept_.empty() || Key{launch_, block, thread, order_} < kept_.rbegin()->first;
}

void Printer::add(std::uint64_t block, std::uint32_t thread, std::string text) {
  if (text.empty()) return;
  bytes_ += text.size();
  kept_.emplace(Key{launch_, block, thread, order_++}, std::move(text));
  while (bytes_ > kMostBytes && kept_.size() > 1) {
    const auto last = std::prev(kept_.end());
    bytes_ -= last->second.size();
    kept_.erase(last);
    ++more_;
  }
}

Printed Printer::take() {
  Printed out;
  for (auto& [key, text] : kept_) out.text += text;
  out.more_lines = more_;
  *this = Printer();
  return out;
}

}  // namespace roofwalk::vgpu

#include "common/device/cuda/output_capture.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "common/base/pattern.h"

namespace roofwalk {
namespace {

constexpr std::size_t kMostBytes = 64 << 10;

}  // namespace

OutputCapture::OutputCapture(bool wanted) {
  if (!wanted) return;
  std::fflush(nullptr);
  for (Stream& stream : streams_) {
    stream.file = ::memfd_create("roofwalk-printed", MFD_CLOEXEC);
    stream.original = stream.file < 0 ? -1 : ::dup(stream.number);
    if (stream.original < 0 || ::dup2(stream.file, stream.number) < 0) stream.file = -1;  // output is printed as usual
  }
}

OutputCapture::~OutputCapture() {
  std::fflush(nullptr);
  for (const Stream& stream : streams_) {
    if (stream.file < 0) continue;
    ::dup2(stream.original, stream.number);
    ::close(stream.original);
    ::close(stream.file);
  }
}

void OutputCapture::restart() {
  std::fflush(nullptr);
  for (const Stream& stream : streams_) {
    if (stream.file >= 0 && ::ftruncate(stream.file, 0) == 0) ::lseek(stream.file, 0, SEEK_SET);
  }
}

std::string OutputCapture::text_of(int which) {
  std::fflush(nullptr);
  if (streams_[which].file < 0) return {};
  std::string text(8 * kMostBytes, '\0');
  const ssize_t size = ::pread(streams_[which].file, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

Printed printed_of(std::string_view text) {
  Printed printed;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (printed.more_lines > 0 || printed.text.size() + line.size() > kMostBytes) {
      ++printed.more_lines;
      continue;
    }
    std::transform(line.begin(), line.end(), std::back_inserter(printed.text), [](char c) {
      const bool plain = (c >= ' ' && c <= '~') || c == '\n' || c == '\t';
      return plain ? c : '?';
    });
  }
  return printed;
}

std::optional<FailedAssertion> assertion_in(std::string_view text) {
  static const Pattern kMessage(
      R"(:(\d{1,7}): [^\n]*block: \[(\d{1,10}),(\d{1,10}),(\d{1,10})\], thread: \[(\d{1,4}),(\d{1,4}),(\d{1,4})\] Assertion `([^\n]*)` failed)");
  // Lines are cut to this length: the pattern matcher recurses for each character, and learners may print long lines.
  constexpr std::size_t kLongest = 2000;
  while (!text.empty()) {
    const std::string line(text.substr(0, std::min(text.find('\n'), kLongest)));
    text.remove_prefix(std::min(text.size(), std::min(text.find('\n'), text.size()) + 1));
    const auto groups = kMessage.search(line);
    if (!groups) continue;
    const auto number = [&groups](std::size_t i) { return static_cast<std::uint32_t>(std::stoul((*groups)[i])); };
    return FailedAssertion{.line = std::stoi((*groups)[1]),
                           .block = {number(2), number(3), number(4)},
                           .thread = {number(5), number(6), number(7)},
                           .condition = printed_of((*groups)[8]).text};
  }
  return std::nullopt;
}

}  // namespace roofwalk

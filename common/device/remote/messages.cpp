#include "common/device/remote/messages.h"

#include <charconv>

#include "common/base/json_reader.h"
#include "common/record/run_record_json.h"

namespace roofwalk {

Json to_json(const Error& error) {
  return {{"message", error.message}, {"file", error.file}, {"line", error.line}, {"advice", error.advice}};
}

Status read_error(const Json& json, Error& error) {
  JsonReader in(json, "the error");
  in.text("message", error.message, 1 << 16);
  in.text("file", error.file, 1 << 16);
  in.whole("line", error.line);
  in.text("advice", error.advice, 1 << 16);
  if (error.message.empty()) in.fail("`message` is empty");
  return in.end();
}

std::string hex_text(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Result<std::vector<std::uint8_t>> bytes_from_hex(std::string_view text) {
  std::vector<std::uint8_t> bytes(text.size() / 2);
  const char* at = text.data();
  for (std::uint8_t& byte : bytes) {
    const auto [end, error] = std::from_chars(at, at + 2, byte, 16);
    if (error != std::errc() || end != at + 2) break;
    at = end;
  }
  if (at != text.data() + text.size()) return Error{.message = "these are no bytes in hex"};
  return bytes;
}

Json to_json(const RunOptions& options) {
  return {{"max_work", options.max_work},
          {"milestone_work", options.milestone_work},
          {"max_seconds", options.max_seconds},
          {"threads", options.threads},
          {"lockstep", options.lockstep},
          {"sanitize", options.sanitize},
          {"sanitized_blocks", options.sanitized_blocks},
          {"sanitized_seed", options.sanitized_seed},
          {"watched_address", options.watched_address},
          {"watched_bytes", options.watched_bytes},
          {"time", static_cast<int>(options.time)},
          {"sample_seed", options.sample_seed},
          {"also_traced", options.also_traced},
          {"figures", static_cast<int>(options.figures)}};
}

Result<RunOptions> run_options_from_json(const Json& json) {
  RunOptions out;
  int time = 0, figures = 0;
  JsonReader in(json, "the options of the run");
  in.whole("max_work", out.max_work);
  in.whole("milestone_work", out.milestone_work);
  in.number("max_seconds", out.max_seconds);
  in.whole("threads", out.threads);
  in.flag("lockstep", out.lockstep);
  in.flag("sanitize", out.sanitize);
  in.whole("sanitized_blocks", out.sanitized_blocks);
  in.whole("sanitized_seed", out.sanitized_seed);
  in.whole("watched_address", out.watched_address);
  in.whole("watched_bytes", out.watched_bytes);
  in.whole("sample_seed", out.sample_seed);
  in.with("also_traced", [&](const Json& launches) -> Status {
    ROOFWALK_TRY(out.also_traced, block_numbers_from_json(launches));
    return kOk;
  });
  in.whole("time", time, 0, static_cast<int>(RunOptions::Time::least));
  in.whole("figures", figures, 0, static_cast<int>(RunOptions::Figures::none));
  ROOFWALK_TRY_STATUS(in.end());
  out.time = static_cast<RunOptions::Time>(time);
  out.figures = static_cast<RunOptions::Figures>(figures);
  return out;
}

}  // namespace roofwalk

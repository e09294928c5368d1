#include "common/specs/slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/base/json.h"
#include "common/specs/machine_file.h"

namespace roofwalk {
namespace {

constexpr int kMostDigits = 4;  // of a number of SMs

std::int64_t whole_units(double bytes, std::int64_t unit) {
  return std::max<std::int64_t>(std::llround(bytes / static_cast<double>(unit)), 1) * unit;
}

}  // namespace

std::string MachineName::text() const { return sms ? fmt::format("{}/{}", chip, *sms) : chip; }

MachineName parse_machine_name(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos || slash == 0) return {name, std::nullopt};
  const std::string digits = name.substr(slash + 1);
  const bool is_number =
      !digits.empty() && digits.size() <= kMostDigits && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) return {name, std::nullopt};
  return {name.substr(0, slash), std::atoi(digits.c_str())};
}

Result<MachineFile> slice_of(MachineFile chip, int sms) {
  Machine& m = chip.machine;
  if (sms < 1 || sms >= m.sms) {
    return Error{.message = m.sms > 1 ? fmt::format("a slice of {} has 1 to {} SMs, not {}", m.name, m.sms - 1, sms)
                                      : fmt::format("{} has one SM, so it has no slices", m.name),
                 .advice = "without the slash and the number, it is the whole chip"};
  }
  constexpr std::int64_t kLineBytes = 128, kMiB = 1 << 20;
  const Json whole = to_json(m);
  const double share = static_cast<double>(sms) / m.sms;
  m.chip_sms = m.sms;
  m.sms = sms;
  const std::int64_t halves = m.l2_far_latency_cycles != 0 ? 2 : 1;
  m.l2_bytes = whole_units(share * static_cast<double>(m.l2_bytes), halves * m.l2_ways * kLineBytes);
  m.l2_bytes_per_clock *= share;
  m.memory_bytes = whole_units(share * static_cast<double>(m.memory_bytes), kMiB);
  m.atomic_updates_per_clock *= share;
  m.dram_bytes_per_s *= share;
  m.dram_page_opens_per_s *= share;
  m.dram_banks = static_cast<int>(whole_units(share * m.dram_banks, 1));
  m.block_dispatch_cycles /= share;
  m.name = MachineName{m.name, sms}.text();
  m.title += fmt::format(", {} of its {} SMs", sms, m.chip_sms);
  m.driver_name.clear();
  const Json values = to_json(m);
  for (MachineFigure& figure : chip.figures) {
    if (values.at(figure.key) == whole.at(figure.key)) continue;
    figure.value = values.at(figure.key);
    figure.source = fmt::format("{} of {} SMs' share of the chip's: {}", sms, m.chip_sms, figure.source);
  }
  return chip;
}

}  // namespace roofwalk

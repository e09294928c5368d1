#include "book/truth/drawings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "book/truth/svg.h"
#include "common/base/json.h"
#include "common/roofline/si.h"

namespace roofwalk::book {
namespace {

constexpr int kLanes = 32, kBytes = 4, kSectorBytes = 32, kBanks = 32;
constexpr double kWidth = 720, kMargin = 16;

using Words = std::vector<std::string>;

Result<std::vector<int>> numbers_of(const Words& words) {
  std::vector<int> numbers;
  for (std::size_t i = 1; i < words.size(); ++i) {
    int number = 0;
    const auto [end, error] = std::from_chars(words[i].data(), words[i].data() + words[i].size(), number);
    if (error != std::errc() || *end != '\0' || number < 1 || number > 4096) {
      return Error{fmt::format("`{}` is no number from 1 to 4096", words[i])};
    }
    numbers.push_back(number);
  }
  if (numbers.empty()) return Error{fmt::format("{} needs numbers", words.front())};
  return numbers;
}

// Draws one row per stride: memory from the first lane's float on, divided into sectors. Touched sectors are coloured,
// and the requested floats in them are darker.
Result<std::string> sectors(const Words& words) {
  ROOFWALK_TRY(const std::vector<int> strides, numbers_of(words));
  constexpr double kCell = 10, kRow = 92;
  constexpr int kPerSector = kSectorBytes / kBytes, kShown = 64;  // floats of memory that are drawn
  Svg svg(kWidth, kRow * static_cast<double>(strides.size()) + 30);
  double y = 24;
  for (const int stride : strides) {
    std::set<int> touched, wanted;
    for (int lane = 0; lane < kLanes; ++lane) {
      wanted.insert(lane * stride);
      touched.insert(lane * stride / kPerSector);
    }
    const auto bytes = static_cast<int>(touched.size()) * kSectorBytes;
    svg.text(kMargin, y,
             stride == 1 ? "neighbours read neighbours" : fmt::format("neighbours read {} floats apart", stride));
    svg.text(kWidth - kMargin, y,
             fmt::format("{} sectors, {} bytes, for {} wanted", touched.size(), bytes, kLanes * kBytes), kWalk,
             Align::end);
    for (int i = 0; i < kShown; ++i) {
      const double x = kMargin + i * kCell + i / kPerSector * 4.0;
      const bool is_touched = touched.contains(i / kPerSector), is_wanted = wanted.contains(i);
      svg.box(x, y + 12, kCell, 24, is_wanted ? kBlue : is_touched ? kPaleBlue : kEmpty, kPaper);
    }
    for (int sector = 0; sector < kShown / kPerSector; ++sector) {
      const double x = kMargin + sector * (kPerSector * kCell + 4.0);
      svg.text(x + kPerSector * kCell / 2, y + 52, fmt::format("sector {}", sector), kQuiet, Align::middle, 11);
    }
    y += kRow;
  }
  svg.text(
      kMargin, y,
      "dark: a float that a thread asks for; pale: what comes with it; grey: not fetched. Memory goes on to the right.",
      kQuiet, Align::start, 11);
  return svg.file();
}

// Draws a warp that reads down a column: lane l reads the word at l times the row length. The banks are side by side,
// and lanes that read from the same bank are stacked.
Result<std::string> banks(const Words& words) {
  ROOFWALK_TRY(const std::vector<int> rows, numbers_of(words));
  constexpr double kCell = 20, kHeight = 7, kRow = 32 * kHeight + 84;
  double y = 24;
  std::vector<std::array<int, kBanks>> waiting;
  double height = 24;
  for (const int row : rows) {
    auto& counts = waiting.emplace_back();
    for (int lane = 0; lane < kLanes; ++lane) ++counts[static_cast<std::size_t>(lane * row % kBanks)];
    height += std::min(kRow, *std::max_element(counts.begin(), counts.end()) * kHeight + 84.0);
  }
  Svg svg(kWidth, height);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const int most = *std::max_element(waiting[r].begin(), waiting[r].end());
    svg.text(kMargin, y, fmt::format("rows of {} words", rows[r]));
    svg.text(kWidth - kMargin, y,
             fmt::format("{} {}", most, most == 1 ? "turn: all banks answer at once" : "turns: one after the other"),
             kWalk, Align::end);
    const double floor = y + 14 + most * kHeight;
    for (int bank = 0; bank < kBanks; ++bank) {
      const double x = kMargin + 24 + bank * kCell;
      for (int i = 0; i < waiting[r][static_cast<std::size_t>(bank)]; ++i) {
        svg.box(x, floor - (i + 1) * kHeight, kCell - 2, kHeight, kBlue, kPaper);
      }
      svg.box(x, floor, kCell - 2, 5, kLine, kPaper);
      if (bank % 4 == 0) svg.text(x + kCell / 2, floor + 20, std::to_string(bank), kQuiet, Align::middle, 11);
    }
    svg.text(kMargin + 24, floor + 36, "bank; each blue bar is a thread that wants a word from it", kQuiet,
             Align::start, 11);
    y = floor + 70;
  }
  return svg.file();
}

// Where the elements of a matrix's rows are taken: by which lane, and in which turn.
struct Schedule {
  std::string_view title;
  std::vector<std::array<int, 2>> taken = {};  // lane and turn, by element
  int turns = 0;
};

std::vector<Schedule> schedules_of(const std::vector<int>& lengths) {
  std::vector<Schedule> all = {{.title = "a thread a row"}, {.title = "a warp a row"}, {.title = "equal shares"}};
  const auto lanes = static_cast<int>(lengths.size());
  int element = 0;
  for (int row = 0; row < lanes; ++row) {
    const int length = lengths[static_cast<std::size_t>(row)];
    for (int i = 0; i < length; ++i, ++element) {
      all[0].taken.push_back({row, i});
      all[1].taken.push_back({i % lanes, all[1].turns + i / lanes});
      all[2].taken.push_back({element % lanes, element / lanes});
    }
    all[0].turns = std::max(all[0].turns, length);
    all[1].turns += (length - 1) / lanes + 1;
  }
  all[2].turns = (element - 1) / lanes + 1;
  return all;
}

// Draws as many rows of a sparse matrix as a small warp has lanes, in three ways: lanes below each other, turns side by
// side. Each box is an element, in its row's colour; grey: the lane has nothing to do.
Result<std::string> rows(const Words& words) {
  ROOFWALK_TRY(const std::vector<int> lengths, numbers_of(words));
  constexpr double kGap = 64, kMostCell = 18, kTop = 36, kLaneText = 44;
  const auto lanes = static_cast<int>(lengths.size());
  const auto longest = std::max_element(lengths.begin(), lengths.end()) - lengths.begin();
  const std::vector<Schedule> schedules = schedules_of(lengths);
  int turns = 0;
  for (const Schedule& schedule : schedules) turns += schedule.turns;
  const double cell = std::min(kMostCell, (kWidth - 2 * kMargin - kLaneText - 2 * kGap) / turns);
  const double floor = kTop + lanes * cell;
  Svg svg(kWidth, floor + 54);
  for (int lane = 0; lane < lanes; ++lane)
    svg.text(kMargin, kTop + (lane + 0.75) * cell, fmt::format("lane {}", lane), kQuiet, Align::start, 11);
  double x = kMargin + kLaneText;
  for (const Schedule& schedule : schedules) {
    svg.text(x, kTop - 12, schedule.title);
    svg.box(x, kTop, schedule.turns * cell, lanes * cell, kEmpty, kLine);
    std::size_t element = 0;
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      const std::string_view fill = static_cast<std::ptrdiff_t>(row) == longest ? kWalk
                                    : row % 2 == 0                              ? kBlue
                                                                                : kPaleBlue;
      for (int i = 0; i < lengths[row]; ++i, ++element) {
        const auto [lane, turn] = schedule.taken[element];
        svg.box(x + turn * cell, kTop + lane * cell, cell, cell, fill, kPaper);
      }
    }
    const double busy = static_cast<double>(element) / (lanes * schedule.turns);
    svg.text(x, floor + 18, fmt::format("{} turns", schedule.turns), kWalk);
    svg.text(x, floor + 34, fmt::format("{:.0f} % busy", 100 * busy), kQuiet, Align::start, 11);
    x += schedule.turns * cell + kGap;
  }
  return svg.file();
}

Result<std::string> tile(const Words& words) {
  ROOFWALK_TRY(const std::vector<int> numbers, numbers_of(words));
  if (numbers.size() != 2) return Error{"tile takes two numbers, EDGE and DEPTH"};
  const int edge = numbers[0], depth = numbers[1];
  constexpr double kMatrix = 200, kGap = 26, kTop = 34;
  const double scale = kMatrix / (4 * edge), square = edge * scale, thin = std::max(depth * scale, 5.0);
  const double left = 60, c_x = left + kMatrix + kGap, c_y = kTop + kMatrix + kGap;
  const double row_y = c_y + square, column_x = c_x + 2 * square;  // the block's square of c
  Svg svg(kWidth, c_y + kMatrix + 20);
  svg.box(c_x, kTop, kMatrix, kMatrix, kEmpty, kLine);
  svg.box(left, c_y, kMatrix, kMatrix, kEmpty, kLine);
  svg.box(c_x, c_y, kMatrix, kMatrix, kEmpty, kLine);
  svg.text(c_x + 6, kTop + 18, "b", kQuiet);
  svg.text(left + 6, c_y + 18, "a", kQuiet);
  svg.text(c_x + 6, c_y + 18, "c", kQuiet);
  svg.box(column_x, kTop, square, kMatrix, kPaleBlue, kBlue);
  svg.box(left, row_y, kMatrix, square, kPaleBlue, kBlue);
  svg.box(column_x, row_y, square, square, kPaleOrange, kWalk);
  const double at = 1.5 * square;  // position of the tiles along k
  svg.box(column_x, kTop + at, square, thin, kBlue, kBlue);
  svg.box(left + at, row_y, thin, square, kBlue, kBlue);
  const double x = c_x + kMatrix + 20;
  svg.text(x, row_y + 14, "one block computes", kWalk, Align::start, 13);
  svg.text(x, row_y + 32, fmt::format("{} x {} elements", edge, edge), kWalk, Align::start, 13);
  svg.text(x, kTop + 20, "it needs these strips,", kBlue, Align::start, 13);
  svg.text(x, kTop + 38, fmt::format("{} rows of a, {} columns of b,", edge, edge), kBlue, Align::start, 13);
  svg.text(x, kTop + 56, fmt::format("and brings them in tiles of {}", depth), kBlue, Align::start, 13);
  const double flops = 2.0 * edge * edge, bytes = 2.0 * edge * kBytes;
  svg.text(x, kTop + 92, "for each step along k:", kInk, Align::start, 13);
  svg.text(x, kTop + 110, fmt::format("{} FLOPs, {} bytes", flops, bytes), kInk, Align::start, 13);
  svg.text(x, kTop + 128, fmt::format("= {} FLOP/byte", flops / bytes), kInk, Align::start, 13);
  svg.text(left, kTop + 20, "k runs down b", kQuiet, Align::start, 12);
  svg.text(left, kTop + 38, "and along a", kQuiet, Align::start, 12);
  return svg.file();
}

std::string kibibytes(double bytes) {
  if (bytes < 1 << 20) return fmt::format("{:.0f} KiB", bytes / 1024);
  return bytes < 1 << 30 ? fmt::format("{:.0f} MiB", bytes / (1 << 20)) : fmt::format("{:.0f} GiB", bytes / (1 << 30));
}

Result<std::string> machine(const Words& words, const Records& records) {
  const auto record = words.size() == 2 ? records.find(words[1]) : records.end();
  if (record == records.end()) return Error{"machine takes the name of a record above, of `machines NAME`"};
  const Json& gpu = record->second;
  for (const char* key :
       {"sms", "fp32_lanes_per_sm", "l1_bytes", "shared_bytes_per_sm", "l2_bytes", "memory_bytes", "l1_bytes_per_s",
        "l2_bytes_per_s", "dram_bytes_per_s", "l1_latency_cycles", "l2_latency_cycles", "dram_latency_cycles"}) {
    if (!gpu.contains(key) || !gpu[key].is_number()) return Error{fmt::format("{} has no {}", words[1], key)};
  }
  const auto number = [&](const char* key) { return gpu[key].get<double>(); };
  constexpr double kLeft = 30, kRight = 690, kSmHeight = 118, kBand = 44, kRoad = 46;
  constexpr int kMostShown = 8;
  const int sms = static_cast<int>(number("sms")), shown = std::min(sms, kMostShown);
  const double step = (kRight - kLeft) / shown, width = step - 8;
  double y = 40;
  Svg svg(kWidth, y + kSmHeight + 2 * (kRoad + kBand) + 20);
  svg.text(kLeft, 26, fmt::format("{} SMs{}", sms, sms > shown ? fmt::format(", {} of them shown", shown) : ""), kInk);
  const std::string lanes = fmt::format("{:.0f} lanes", number("fp32_lanes_per_sm"));
  for (int i = 0; i < shown; ++i) {
    const double x = kLeft + i * step, middle = x + width / 2;
    svg.box(x, y, width, kSmHeight, kEmpty, kLine);
    svg.text(middle, y + 18, lanes, kInk, Align::middle, 11);
    svg.box(x + 5, y + 28, width - 10, 40, kPaleOrange, kWalk);
    svg.text(middle, y + 45, "shared", kInk, Align::middle, 11);
    svg.text(middle, y + 60, kibibytes(number("shared_bytes_per_sm")), kInk, Align::middle, 11);
    svg.box(x + 5, y + 73, width - 10, 40, kPaleBlue, kBlue);
    svg.text(middle, y + 90, "L1", kInk, Align::middle, 11);
    svg.text(middle, y + 105, kibibytes(number("l1_bytes")), kInk, Align::middle, 11);
    svg.line(middle, y + kSmHeight, middle, y + kSmHeight + kRoad, kBlue, 1.5);
  }
  const auto road = [&](double at, const char* rate, const char* latency) {
    const std::string label =
        fmt::format("{}, {:.0f} cycles to the answer", si_text(number(rate), "B/s"), number(latency));
    const double half = static_cast<double>(label.size()) * 3.9;
    svg.box(kWidth / 2 - half, at + 12, 2 * half, 22, kPaper, kPaper);
    svg.text(kWidth / 2, at + 28, label, kBlue, Align::middle, 13);
  };
  y += kSmHeight;
  road(y, "l2_bytes_per_s", "l2_latency_cycles");
  y += kRoad;
  svg.box(kLeft, y, kRight - kLeft - 8, kBand, kPaleBlue, kBlue);
  svg.text(kWidth / 2, y + 27, "L2, " + kibibytes(number("l2_bytes")), kInk, Align::middle);
  y += kBand;
  svg.line(kWidth / 2, y, kWidth / 2, y + kRoad, kBlue, 1.5);
  road(y, "dram_bytes_per_s", "dram_latency_cycles");
  y += kRoad;
  svg.box(kLeft, y, kRight - kLeft - 8, kBand, kEmpty, kLine);
  svg.text(kWidth / 2, y + 27, "DRAM, " + kibibytes(number("memory_bytes")), kInk, Align::middle);
  svg.text(kRight - 8, 26,
           fmt::format("L1, all together: {}, {:.0f} cycles", si_text(number("l1_bytes_per_s"), "B/s"),
                       number("l1_latency_cycles")),
           kBlue, Align::end, 13);
  return svg.file();
}

struct SlopeDot {
  std::string label;
  double ai = 0, flops_per_s = 0;
};

// Draws attempts on linear axes, so that proportional values look proportional.
Result<std::string> slopes(const Words& words, const Records& records) {
  std::vector<SlopeDot> dots;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t colon = words[i].find(':');
    const std::string name = words[i].substr(0, colon);
    const auto record = records.find(name);
    if (colon == std::string::npos || record == records.end()) {
      return Error{fmt::format("`{}`: a dot is RECORD:LABEL, of a record above", words[i])};
    }
    std::string label = words[i].substr(colon + 1);
    std::replace(label.begin(), label.end(), '_', ' ');
    const Json& attempt = record->second;
    const auto ai = attempt.number_of("observed_ai"), flops_per_s = attempt.number_of("achieved_flops_per_s");
    if (!ai || !flops_per_s) {
      return Error{fmt::format("{} has no {}", name, ai ? "achieved_flops_per_s" : "observed_ai")};
    }
    dots.push_back({label, *ai, *flops_per_s});
  }
  if (dots.empty()) return Error{"slopes needs dots"};
  constexpr double kHeight = 400, kLeft = 80, kRight = 60, kTopEdge = 24, kBottom = 60;
  double most_ai = 0, most_flops = 0;
  for (const SlopeDot& dot : dots) {
    most_ai = std::max(most_ai, dot.ai * 1.5);
    most_flops = std::max(most_flops, dot.flops_per_s * 1.2);
  }
  const auto x = [&](double ai) { return kLeft + ai / most_ai * (kWidth - kLeft - kRight); };
  const auto y = [&](double flops) { return kHeight - kBottom - flops / most_flops * (kHeight - kBottom - kTopEdge); };
  Svg svg(kWidth, kHeight);
  svg.line(x(0), y(0), x(most_ai), y(0), kInk, 1.5);
  svg.line(x(0), y(0), x(0), y(most_flops), kInk, 1.5);
  for (int i = 1; i <= 4; ++i) {
    const double ai = most_ai * i / 5, flops = most_flops * i / 5;
    svg.line(x(ai), y(0), x(ai), y(0) + 5, kInk);
    svg.text(x(ai), y(0) + 20, fmt::format("{:.3f}", ai), kQuiet, Align::middle, 12);
    svg.line(x(0) - 5, y(flops), x(0), y(flops), kInk);
    svg.text(x(0) - 10, y(flops) + 4, si_text(flops, ""), kQuiet, Align::end, 12);
  }
  svg.text(x(most_ai / 2), kHeight - 14, "arithmetic intensity at DRAM [FLOP/byte]", kInk, Align::middle);
  svg.text(12, 16, "FLOP/s", kInk);
  for (const SlopeDot& dot : dots) {
    const double slope = dot.flops_per_s / dot.ai;  // bytes/s
    const double reach = std::min(most_ai, most_flops / slope);
    svg.line(x(0), y(0), x(reach), y(reach * slope), kBlue, 1.5, "6 4");
    svg.dot(x(dot.ai), y(dot.flops_per_s), 6, kWalk);
    const bool is_low = y(0) - y(dot.flops_per_s) < 30;  // no room for a label below the dot
    svg.text(x(dot.ai) + 10, y(dot.flops_per_s) + (is_low ? -12 : 18), dot.label, kWalk);
    svg.text(x(reach), y(reach * slope) - 6, si_text(slope, "B/s"), kBlue, reach < most_ai ? Align::middle : Align::end,
             13);
  }
  return svg.file();
}

}  // namespace

Result<std::string> drawing(const Words& words, const Records& records) {
  if (words.empty()) return Error{"nothing to draw"};
  if (words.front() == "sectors") return sectors(words);
  if (words.front() == "banks") return banks(words);
  if (words.front() == "tile") return tile(words);
  if (words.front() == "rows") return rows(words);
  if (words.front() == "machine") return machine(words, records);
  if (words.front() == "slopes") return slopes(words, records);
  return Error{fmt::format("`{}` is no drawing: sectors, banks, tile, rows, machine or slopes", words.front())};
}

}  // namespace roofwalk::book

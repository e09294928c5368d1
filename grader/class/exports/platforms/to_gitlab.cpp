// GitLab's two reports.
//
// Code quality: an array of objects with description, check_name, fingerprint, severity (info, minor, major, critical,
// blocker) and location {path, lines {begin}}. The path is relative to the repository. GitLab compares two branches by
// the fingerprints, and shows one remark for equal ones: so they are unique, and hold no line, which any edit above
// would move. GitLab stops reading at the first object that lacks a key.
//
// JUnit XML: GitLab takes a case by suite, classname and name, so these are unique and the same for every attempt. It
// shows the text of a failure, and reads the attribute `type` as the type of that text: "yaml" and "symbol" are
// refused, "integer" and the like converted.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/base/hash.h"
#include "grader/class/exports/platforms/platforms.h"
#include "grader/class/exports/xml.h"

namespace roofwalk {
namespace {

const char* severity_of(Remark::Kind kind) {
  switch (kind) {
    case Remark::Kind::broken:
      return "blocker";
    case Remark::Kind::wrong:
      return "critical";
    case Remark::Kind::warning:
      return "major";
    case Remark::Kind::hint:
      return "minor";
  }
  check_failed(__FILE__, __LINE__, "a Remark::Kind has a severity");
}

struct CaseCounts {
  int tests = 0, failures = 0, skipped = 0;
};

std::string gitlab_case(const SheetPart& part, const Check& check, CaseCounts& counts) {
  std::string text = fmt::format("    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" time=\"0\"",
                                 escaped_xml(check.name), escaped_xml("roofwalk." + part.chapter),
                                 escaped_xml(part.file.empty() ? part.chapter + ".cu" : part.file));
  ++counts.tests;
  switch (check.state) {
    case Check::State::met:
      return text + (check.words.empty()
                         ? "/>\n"
                         : fmt::format("><system-out>{}</system-out></testcase>\n", escaped_xml(check.words)));
    case Check::State::missed:
      ++counts.failures;
      return text + fmt::format("><failure message=\"missed\" type=\"missed\">{}</failure></testcase>\n",
                                escaped_xml(check.words.empty() ? "missed" : check.words));
    case Check::State::unknown:
      ++counts.skipped;
      return text + "><skipped message=\"not reached\"/></testcase>\n";
  }
  check_failed(__FILE__, __LINE__, "a Check::State has a case");
}

}  // namespace

Json to_code_quality(const Sheet& sheet) {
  Json report = Json::array();
  std::map<std::string, int> seen;
  for (const SheetPart& part : sheet.parts) {
    for (const Remark& remark : part.remarks) {
      const std::string what = part.chapter + "\n" + part.file + "\n" + remark.id;
      Json location;
      location["path"] = part.file;
      location["lines"]["begin"] = std::max(remark.line, 1);
      report.push_back({{"description", remark.text},
                        {"check_name", "roofwalk/" + remark.id},
                        {"fingerprint", sha256_hex(fmt::format("{}\n{}", what, ++seen[what]))},
                        {"severity", severity_of(remark.kind)},
                        {"location", std::move(location)}});
    }
  }
  return report;
}

std::string to_gitlab_junit(const Sheet& sheet) {
  CaseCounts all;
  std::string suites;
  for (std::size_t i = 0; i < sheet.parts.size(); ++i) {
    const SheetPart& part = sheet.parts[i];
    CaseCounts counts;
    std::string cases;
    if (part.checks.empty()) {
      Check handed_in{"is handed in", Check::State::unknown, {}};
      if (part.state == Cell::State::nothing) handed_in = {handed_in.name, Check::State::missed, part.headline};
      cases = gitlab_case(part, handed_in, counts);
    }
    for (const auto* checks : {&part.checks, &part.goals}) {
      for (const Check& check : *checks) cases += gitlab_case(part, check, counts);
    }
    // The schemas of other readers require a time. There is none, so that equal results are equal files.
    suites += fmt::format(
        "  <testsuite name=\"{}\" package=\"roofwalk\" id=\"{}\" timestamp=\"1970-01-01T00:00:00\" "
        "hostname=\"localhost\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\">\n{}"
        "  </testsuite>\n",
        escaped_xml(part.chapter), i, counts.tests, counts.failures, counts.skipped, cases);
    all.tests += counts.tests;
    all.failures += counts.failures;
    all.skipped += counts.skipped;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"roofwalk\" tests=\"{}\" failures=\"{}\" "
      "errors=\"0\" skipped=\"{}\" time=\"0\">\n{}</testsuites>\n",
      all.tests, all.failures, all.skipped, suites);
}

}  // namespace roofwalk

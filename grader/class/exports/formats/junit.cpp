// One suite per chapter, one case per student. Passed: pass; failed: any other verdict; error: not graded; skipped:
// no submission. Points and the dot are properties of the case.
//
// JUnit XML, in the subset on which Jenkins' and Ant's schemas agree: testsuites > testsuite (name, package, id,
// timestamp, hostname, tests, failures, errors, skipped, time) > properties, testcase (name, classname, time) > at
// most one of skipped, error, failure (message, type), then system-out, system-err. XML 1.0 forbids most control
// characters, even escaped.
#include <fmt/format.h>

#include <algorithm>

#include "grader/class/exports/exporter.h"
#include "grader/class/exports/xml.h"

namespace roofwalk {
namespace {

struct Counts {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

std::string property(const std::string& name, const std::string& value) {
  return fmt::format("        <property name=\"{}\" value=\"{}\"/>\n", escaped_xml(name), escaped_xml(value));
}

std::string properties_of(const Entry& entry, const Column& column) {
  std::string text = property("verdict", entry.verdict.empty() ? "not graded" : entry.verdict);
  text += property("grade", entry.grade.empty() ? "none" : entry.grade);
  if (entry.points) text += property("points", points_text(*entry.points));
  text += property("points_possible", points_text(column.points));
  text += property("late_days", std::to_string(entry.late_days));
  if (entry.dot) {
    text += property("ai_flop_per_byte", fmt::format("{}", entry.dot->ai));
    if (column.unit != WorkUnit::flop) text += property("useful_unit", std::string(words_of(column.unit).one));
    text += property("flops_per_s", fmt::format("{}", entry.dot->flops_per_s));
  }
  return "      <properties>\n" + text + "      </properties>\n";
}

std::string testcase(const StudentRow& row, std::size_t at, const Column& column, Counts& counts) {
  const Cell& cell = row.cells[at];
  ++counts.tests;
  std::string text = fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"0\">\n",
                                 escaped_xml(row.owner.student), escaped_xml("roofwalk." + column.chapter));
  const Entry* entry = cell.counting();
  if (entry == nullptr) {
    ++counts.skipped;
    return text + fmt::format("      <skipped message=\"{}\"/>\n    </testcase>\n", state_name(cell.state));
  }
  text += properties_of(*entry, column);
  const std::string reason = entry->reasons.empty() ? "" : entry->reasons.front();
  if (cell.state == Cell::State::not_graded) {
    ++counts.errors;
    text += fmt::format("      <error message=\"{}\" type=\"not_graded\"/>\n", escaped_xml(reason));
  } else if (entry->verdict != "pass") {
    ++counts.failures;
    std::string all;
    for (const std::string& line : entry->reasons) all += line + "\n";
    text += fmt::format("      <failure message=\"{}\" type=\"{}\">{}</failure>\n", escaped_xml(reason),
                        escaped_xml(entry->verdict), escaped_xml(all));
  }
  return text + "    </testcase>\n";
}

std::string to_junit(const Gradebook& book) {
  Counts all;
  std::string suites;
  for (std::size_t i = 0; i < book.columns.size(); ++i) {
    Counts counts;
    std::string cases;
    for (const StudentRow& row : book.rows) cases += testcase(row, i, book.columns[i], counts);
    // The schemas require a time. The gradebook contains none, so that it is the same on every day.
    suites += fmt::format(
        "  <testsuite name=\"{}\" package=\"roofwalk\" id=\"{}\" timestamp=\"1970-01-01T00:00:00\" "
        "hostname=\"localhost\" "
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\">\n{}  </testsuite>\n",
        escaped_xml(book.columns[i].chapter), i, counts.tests, counts.failures, counts.errors, counts.skipped, cases);
    all.tests += counts.tests;
    all.failures += counts.failures;
    all.errors += counts.errors;
    all.skipped += counts.skipped;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
      "skipped=\"{}\" time=\"0\">\n{}</testsuites>\n",
      escaped_xml(book.title.empty() ? "roofwalk" : book.title), all.tests, all.failures, all.errors, all.skipped,
      suites);
}

}  // namespace

extern const Exporter junit_exporter{"junit", "junit.xml", to_junit};

}  // namespace roofwalk

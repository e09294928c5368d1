// The options that every verb about a class takes.
#pragma once

#include <fmt/format.h>

#include <iostream>
#include <iterator>
#include <string>

#include "grader/class/batch/batch.h"
#include "grader/cmd/command_line.h"
#include "grader/cmd/session.h"

namespace roofwalk {

struct ClassOptions {
  std::string course_file, grades, secrets;
};

inline void add_class_options(Verb& command, ClassOptions& options) {
  command.add_option("--course", options.course_file,
                     "the class's course.toml; default: the one here, if there is one");
  command.add_option("--grades", options.grades, "the folder of the grades; default: grades, beside course.toml");
}

// For verbs that grade, and for verbs that tell whether grades were made with the present secrets.
inline void add_secrets_option(Verb& command, ClassOptions& options) {
  command.add_option("--secrets", options.secrets,
                     "hidden seeds and sizes, in place of the file that course.toml names; - reads them from stdin");
}

// The course file, the grades and the secrets, as the caller named them.
inline BatchPlaces places_of(const Session& session, const ClassOptions& options) {
  namespace fs = std::filesystem;
  std::error_code error;
  BatchPlaces places;
  if (!options.course_file.empty()) {
    places.course_file = session.from_caller(options.course_file);
  } else if (fs::is_regular_file(session.from_caller("course.toml"), error)) {
    places.course_file = session.from_caller("course.toml");
  }
  const fs::path beside = places.course_file.empty() ? session.from_caller(".") : places.course_file.parent_path();
  if (options.secrets == "-") {  // read from stdin, so that no compiler can read them
    places.secrets.emplace(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  } else if (!options.secrets.empty()) {
    const fs::path file = session.from_caller(options.secrets);
    if (!fs::is_regular_file(file, error))
      throw Failure{{fmt::format("there is no file {}", printable(file.string()))}, kUsage};
    places.secrets = file_text(file);
  }
  places.folder = (options.grades.empty() ? beside / "grades" : session.from_caller(options.grades)).lexically_normal();
  return places;
}

// The device of course.toml, if the command line names none.
inline void use_device_of(Session& session, const CourseTerms& terms) {
  if (session.options.device == "auto") session.options.device = terms.device;
}

// The graded class, for verbs that only read it.
inline Batch graded_class(Session& session, const BatchPlaces& places) {
  std::error_code error;
  if (!std::filesystem::exists(places.folder / "grades.db", error)) {
    throw Failure{{.message = "there are no grades",
                   .file = places.folder.string(),
                   .advice = "`./roofwalk grade PATH...` makes them; --grades names another folder"},
                  kUsage};
  }
  Batch batch = value_or_fail(Batch::open(session.course(), places), kUsage);
  use_device_of(session, batch.terms());
  value_or_fail(batch.store().verify());
  batch.use_bench(session.measured_bench());
  return batch;
}

inline Batch graded_class(Session& session, const ClassOptions& options) {
  return graded_class(session, places_of(session, options));
}

// Prints a line to stderr, separate from the output on stdout.
inline void tell(const std::string& line) { std::fputs(fmt::format("roofwalk: {}\n", line).c_str(), stderr); }

// The command that grades this class, and grades again what is out of date.
inline std::string grade_command(const ClassOptions& options) {
  std::string command = "./roofwalk grade";
  if (!options.course_file.empty()) command += " --course " + printable(options.course_file);
  if (!options.secrets.empty() && options.secrets != "-") command += " --secrets " + printable(options.secrets);
  if (!options.grades.empty()) command += " --grades " + printable(options.grades);
  return command;
}

}  // namespace roofwalk

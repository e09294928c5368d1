// The options that every verb about a class takes.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "grader/batch/batch.h"
#include "grader/session.h"

namespace roofwalk {

struct ClassOptions {
  std::string course_file, grades;
};

inline void add_class_options(CLI::App& command, ClassOptions& options) {
  command.add_option("--course", options.course_file,
                     "the class's course.toml; default: the one here, if there is one");
  command.add_option("--grades", options.grades, "the folder of the grades; default: grades, beside course.toml");
}

// Where they lie, as the caller named them.
inline BatchPlaces places_of(const Session& session, const ClassOptions& options) {
  namespace fs = std::filesystem;
  std::error_code error;
  BatchPlaces places;
  if (!options.course_file.empty()) {
    places.course_file = fs::absolute(session.from_caller(options.course_file));
  } else if (fs::is_regular_file(session.from_caller("course.toml"), error)) {
    places.course_file = fs::absolute(session.from_caller("course.toml"));
  }
  const fs::path beside =
      places.course_file.empty() ? fs::absolute(session.from_caller(".")) : places.course_file.parent_path();
  places.folder = options.grades.empty() ? beside / "grades" : fs::absolute(session.from_caller(options.grades));
  places.folder = places.folder.lexically_normal();
  return places;
}

// The device that course.toml names holds where the command line names none.
inline void use_device_of(Session& session, const CourseTerms& terms) {
  if (session.options.device == "auto") session.options.device = terms.device;
}

}  // namespace roofwalk

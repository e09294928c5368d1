// GitLab: an image, and a project for students with the pipeline and the starters. Students choose what their pipelines
// run and print, so nothing secret is in the image, and the pipeline's grades are for them, not for the record.
#include "grader/class/exports/platforms/setup.h"

namespace roofwalk {
namespace {

constexpr const char* kPipeline =
    R"yaml(# Measures the kernels of this project on the virtual GPU, for each merge request and for the default branch.
roofwalk:
  image: $ROOFWALK_IMAGE  # a variable of the group: Settings, CI/CD, Variables
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH
  script:
    - grade-one gitlab "$CI_PROJECT_DIR" /opt/roofwalk/course.toml "$CI_PROJECT_DIR/reports" </dev/null
  artifacts:
    when: always
    paths: [reports]
    reports:
      junit: reports/junit.xml
      codequality: reports/gl-code-quality-report.json
    expire_in: 90 days
)yaml";

}  // namespace

Result<std::vector<ArchiveFile>> gitlab_setup(const SetupInput& input) {
  ROOFWALK_TRY(auto files, image_for_grading(input, "image", {.rest = "COPY course.toml /opt/roofwalk/course.toml\n"}));
  files.push_back({"image/course.toml", course_without_secrets(input.course_file)});
  files.push_back({"project/.gitlab-ci.yml", kPipeline});
  files.push_back({"project/.gitignore", "/reports/\n"});
  for (const Chapter* chapter : input.chapters())
    files.push_back({"project/" + chapter->name + ".cu", file_text(chapter->starter())});
  return files;
}

}  // namespace roofwalk

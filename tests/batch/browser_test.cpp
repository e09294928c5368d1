// Opens the report in headless Chromium, on a screen as wide as a phone's and without a network.

#include "common/base/pattern.h"
#include "tests/batch/class_fixture.h"

namespace roofwalk::test {
namespace {

using ::testing::HasSubstr;

// Loads the page in a frame of WIDTH pixels. The title then states the page's width, the number of its broken images,
// the number of files that it requested from elsewhere, and whether it has text.
constexpr const char* kFrame = R"html(<!doctype html><title>waiting</title>
<iframe id="page" width="WIDTH" height="800" src="PAGE"></iframe>
<script>
const frame = document.getElementById("page");
frame.onload = () => {
  const page = frame.contentDocument;
  const broken = [...page.images].filter(i => !i.naturalWidth).length;
  const asked = frame.contentWindow.performance.getEntriesByType("resource").map(r => r.name);
  const elsewhere = asked.filter(name => !name.startsWith("file:")).length;
  document.title = `wide ${page.documentElement.scrollWidth} broken ${broken} elsewhere ${elsewhere} text ${page.body.innerText.length > 100}`;
};
</script>)html";

class BrowserTest : public ClassTest {
 protected:
  static std::string browser() {
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
      if (const auto found = find_program(name)) return found->string();
    }
    return "";
  }

  std::string title_of(const fs::path& page, int width) {
    std::string html = kFrame;
    html.replace(html.find("WIDTH"), 5, std::to_string(width));
    html.replace(html.find("PAGE"), 4, "file://" + page.string());
    const fs::path wrapper = folder_ / "frame.html";
    std::ofstream(wrapper) << html;
    const auto result = run_command(
        {.arguments = {browser(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                       "--allow-file-access-from-files", "--host-resolver-rules=MAP * ~NOTFOUND",
                       "--proxy-server=127.0.0.1:9", "--virtual-time-budget=10000",
                       "--user-data-dir=" + (folder_ / "browser").string(), "--dump-dom", "file://" + wrapper.string()},
         .timeout_s = 120});
    EXPECT_TRUE(result);
    const std::string output = result ? result->output : "";
    const auto title = Pattern("<title>([^<]*)</title>").search(output);
    return title ? (*title)[1] : output;
  }
};

TEST_F(BrowserTest, LongPagesFitAPhoneAndAskNobody) {
  if (browser().empty()) GTEST_SKIP() << "skipped: there is no Chromium here";
  make({.students = 20, .seed = 5, .bytes_of_large = 2u << 20});
  ASSERT_LE(grade("grades", 2).exit_code, 1);  // 1: the class holds files that are left out
  std::vector<fs::path> pages{folder_ / "grades/report/index.html"};
  for (const char* folder : {"students", "profiles"}) {
    for (const auto& entry : fs::directory_iterator(folder_ / "grades/report" / folder)) {
      if (entry.path().filename() == "index.html") continue;  // a placeholder: the folder has no list
      if (file_text(entry.path()).size() > 3000 && pages.size() < 8) pages.push_back(entry.path());
    }
  }
  ASSERT_GE(pages.size(), 4u);
  for (const fs::path& page : pages) EXPECT_EQ(title_of(page, 390), "wide 390 broken 0 elsewhere 0 text true") << page;

  // Tests the check itself on a page that is too wide, lacks a picture and requests a remote file.
  const fs::path bad = folder_ / "bad.html";
  std::ofstream(bad) << "<!doctype html><body style='width:900px'>" << std::string(200, 'x')
                     << "<img src='none.png'><img src='http://example.org/a.png'>";
  EXPECT_THAT(title_of(bad, 390), HasSubstr("broken 2 elsewhere 1"));
  EXPECT_THAT(title_of(bad, 390), ::testing::Not(HasSubstr("wide 390")));
}

}  // namespace
}  // namespace roofwalk::test

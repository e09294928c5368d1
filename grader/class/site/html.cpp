#include "grader/class/site/html.h"

#include <fmt/format.h>

namespace roofwalk {
namespace {

// Every pair of text and background colours has a contrast of 4.5 or more in both colour schemes (WCAG 2.1, 1.4.3).
// On a phone, each row of a table becomes a block, in which each figure follows its column's name.
constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1c2024; --quiet: #59636e; --rule: #d9dee3; --grid: #d9dee3;
  --link: #0b57a4; --starter: #1c2024; --none: #8a5a00; --pass: #0068a8; --ace: #00755a; --caution: #8a4b00; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171a; --ink: #e7eaed; --quiet: #a4aeb8; --rule: #343b42; --grid: #4d5761;
    --link: #8fc1ff; --starter: #e7eaed; --none: #e5b567; --pass: #6cb8f0; --ace: #4fd1ac; --caution: #f0b470; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 64rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.2rem; margin: 2rem 0 .25rem; }
p, ul { margin: .25rem 0; max-width: 48rem; }
a { color: var(--link); }
.told li { white-space: pre-line; }
.quiet { color: var(--quiet); }
.pass { color: var(--pass); font-weight: 600; }
.ace { color: var(--ace); font-weight: 600; }
.caution { color: var(--caution); font-weight: 600; }
table { border-collapse: collapse; width: 100%; margin-top: 1rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--quiet); padding-bottom: .5rem; }
th, td { padding: .2rem .6rem .2rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule); }
thead th { color: var(--quiet); font-weight: 600; }
.roofline, .plot { display: block; width: 100%; max-width: 45rem; height: auto; margin: 1rem 0; }
.wide { overflow-x: auto; }
.wide > .plot { min-width: 40rem; }
figure { margin: 1rem 0; }
details { margin: .25rem 0; } summary { cursor: pointer; }
figure > .roofline { margin: 0; }
figcaption { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
.key::before { content: ""; display: inline-block; width: .7em; height: .7em; margin-right: .4em; border-radius: 50%;
  border: 2px solid var(--ground); }
.key[data-kind=starter]::before { border-color: var(--starter); }
.key[data-kind=none]::before { background: var(--none); } .key[data-kind=pass]::before { background: var(--pass); }
.key[data-kind=ace]::before { background: var(--ace); }
.roofline text { fill: var(--ink); font: 13px system-ui, sans-serif; }
.grid { stroke: var(--grid); fill: none; }
.roof { stroke: var(--ink); stroke-width: 2; fill: none; }
.walk { stroke: var(--quiet); stroke-width: 1.5; stroke-dasharray: 4 3; fill: none; }
.dot { stroke: var(--ground); stroke-width: 1; fill-opacity: .75; }
.dot.starter { fill: var(--ground); stroke: var(--starter); stroke-width: 2; }
.dot.none { fill: var(--none); } .dot.pass { fill: var(--pass); } .dot.ace { fill: var(--ace); }
@media (max-width: 40rem) {
  body { padding: 1rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, caption, tr, th, td { display: block; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--rule); }
  th, td { border: 0; padding: 0; }
  td[data-name]::before { content: attr(data-name) ": "; color: var(--quiet); }
  .roofline text { font-size: 24px; }
  .wide::after { content: "\2190\00a0scroll\00a0\2192"; position: sticky; left: 0; display: block; color: var(--quiet);
    font-size: .8rem; text-align: center; }
  .dot { r: 9px; stroke-width: 2; } .roof { stroke-width: 4; }
}
)";

}  // namespace

std::string class_page(const std::string& title, const std::string& body, int reload_s) {
  const std::string reload =
      reload_s > 0 ? fmt::format("<meta http-equiv=\"refresh\" content=\"{}\">\n", reload_s) : std::string();
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"robots\" content=\"noindex\">\n"
      "{}<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
      reload, escaped(title), kStyle, body);
}

}  // namespace roofwalk

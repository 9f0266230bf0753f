// The head, the header with the colour button, and the footer.
#include "annulus/report/html/html_page.h"

#include <fmt/format.h>

#include "annulus/base/version.h"
#include "annulus/report/html/html_parts.h"

namespace annulus {

std::string html_page(const std::string& title, const std::string& heading, const std::string& body) {
  // The policy guarantees that the page loads nothing, whatever a document contains.
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>";
  text += escape_xml(title);
  text += "</title>\n" + html_style() + "</head>\n<body>\n";
  text +=
      fmt::format("<header><h1>{}</h1><button id=\"theme\" type=\"button\" hidden>Colours</button></header>\n<main>\n",
                  escape_xml(heading));
  text += body;
  text += fmt::format(
      "</main>\n<footer><p>Written by annulus {}. This page is one file and loads nothing.</p></footer>\n", kVersion);
  return text + html_script() + "</body>\n</html>\n";
}

}  // namespace annulus

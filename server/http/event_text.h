// One server-sent event as text.
#pragma once

#include <string>
#include <string_view>

namespace annulus::server {

// "event: name\ndata: line\n...\n\n"; without the first line when the name is empty. Line ends of any kind in `data`
// begin a new data line; those of a name are left out.
inline std::string event_text(std::string_view event, std::string_view data) {
  std::string text;
  if (!event.empty()) {
    text = "event: ";
    for (const char c : event) {
      if (c != '\r' && c != '\n') text += c;
    }
    text += '\n';
  }
  text += "data: ";
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data[i] == '\r' && i + 1 < data.size() && data[i + 1] == '\n') continue;
    if (data[i] == '\r' || data[i] == '\n') {
      text += "\ndata: ";
    } else {
      text += data[i];
    }
  }
  return text + "\n\n";
}

}  // namespace annulus::server

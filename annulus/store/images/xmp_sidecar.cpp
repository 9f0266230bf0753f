// What we wrote is listed in a property of our own, annulus:keywords, so that a later run can take it back.
#include "annulus/store/images/xmp_sidecar.h"

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/files/atomic_file.h"
#include "annulus/store/files/whole_file.h"

namespace annulus {
namespace {

constexpr std::size_t kLargestSidecar = std::size_t{16} << 20;
constexpr std::string_view kRdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
constexpr std::string_view kDublinCore = "http://purl.org/dc/elements/1.1/";
constexpr std::string_view kOurs = "urn:annulus:xmp:1#";
constexpr std::string_view kNewSidecar = R"(<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about=""/>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>
)";

std::string_view prefix_of(std::string_view name) {
  const std::size_t colon = name.find(':');
  return colon == std::string_view::npos ? std::string_view() : name.substr(0, colon);
}

// What a prefix stands for at a node; empty for one that is not declared.
std::string_view namespace_at(pugi::xml_node node, std::string_view prefix) {
  const std::string attribute = prefix.empty() ? "xmlns" : "xmlns:" + std::string(prefix);
  for (; node; node = node.parent()) {
    if (const pugi::xml_attribute declared = node.attribute(attribute.c_str())) return declared.value();
  }
  return {};
}

bool is_element(pugi::xml_node node, std::string_view space, std::string_view name) {
  if (node.type() != pugi::node_element) return false;
  const std::string_view full = node.name();
  const std::string_view prefix = prefix_of(full);
  const std::string_view local = prefix.empty() ? full : full.substr(prefix.size() + 1);
  return local == name && namespace_at(node, prefix) == space;
}

pugi::xml_node child_of(pugi::xml_node parent, std::string_view space, std::string_view name) {
  for (const pugi::xml_node child : parent.children()) {
    if (is_element(child, space, name)) return child;
  }
  return {};
}

// The rdf:RDF of a packet: at the top, or within x:xmpmeta.
pugi::xml_node rdf_of(pugi::xml_node document) {
  if (const pugi::xml_node top = child_of(document, kRdf, "RDF")) return top;
  for (const pugi::xml_node child : document.children()) {
    if (const pugi::xml_node inside = child_of(child, kRdf, "RDF")) return inside;
  }
  return {};
}

// A property that is an unordered list, wherever a sidecar has it; made in `description` where it has none.
class Bag {
 public:
  Bag(pugi::xml_node rdf, std::string_view space, std::string_view prefix, std::string_view name) : rdf_(rdf) {
    for (const pugi::xml_node description : rdf.children()) {
      if (!is_element(description, kRdf, "Description")) continue;
      if ((property_ = child_of(description, space, name))) break;
    }
    space_ = space;
    full_name_ = std::string(prefix) + ":" + std::string(name);
  }

  std::vector<std::string> items() const {
    std::vector<std::string> found;
    for (const pugi::xml_node item : list().children()) {
      if (is_element(item, kRdf, "li")) found.emplace_back(item.text().get());
    }
    return found;
  }

  void set(std::span<const std::string> items) {
    if (items.empty()) {
      if (property_) property_.parent().remove_child(property_);
      property_ = {};
      return;
    }
    if (!property_) property_ = make_property();
    pugi::xml_node bag = list();
    if (!bag) bag = property_.append_child(rdf_name("Bag").c_str());
    const std::vector<std::string> before = this->items();
    if (std::equal(before.begin(), before.end(), items.begin(), items.end())) return;
    bag.remove_children();
    for (const std::string& item : items) bag.append_child(rdf_name("li").c_str()).text().set(item.c_str());
  }

 private:
  std::string rdf_name(std::string_view name) const {
    const std::string_view prefix = prefix_of(rdf_.name());
    return prefix.empty() ? std::string(name) : std::string(prefix) + ":" + std::string(name);
  }
  pugi::xml_node list() const {
    for (const char* kind : {"Bag", "Seq", "Alt"}) {
      if (const pugi::xml_node found = child_of(property_, kRdf, kind)) return found;
    }
    return {};
  }
  pugi::xml_node make_property() {
    pugi::xml_node description = child_of(rdf_, kRdf, "Description");
    if (!description) {
      description = rdf_.append_child(rdf_name("Description").c_str());
      description.append_attribute(rdf_name("about").c_str()).set_value("");
    }
    pugi::xml_node made = description.append_child(full_name_.c_str());
    const std::string_view prefix = prefix_of(full_name_);
    if (namespace_at(made, prefix) != space_) {
      made.append_attribute(("xmlns:" + std::string(prefix)).c_str()).set_value(std::string(space_).c_str());
    }
    return made;
  }

  pugi::xml_node rdf_;
  pugi::xml_node property_;
  std::string_view space_;
  std::string full_name_;
};

bool holds(std::span<const std::string> list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// XML has no way to write other control characters.
std::string keyword_of(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return name;
}

}  // namespace

std::string xmp_with_keywords(std::string_view xmp, std::span<const std::string> keywords, std::string_view source) {
  const std::string_view text = xmp.empty() ? kNewSidecar : xmp;
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size(), pugi::parse_full);
  if (!parsed) {
    fail(ErrorKind::kFormat, "{}: expected an XMP sidecar, found what is not XML: {} at byte {}; move the file away",
         source, parsed.description(), parsed.offset);
  }
  const pugi::xml_node rdf = rdf_of(document.root());
  for (const pugi::xml_node child : document.children()) {
    if (child.type() == pugi::node_doctype || !rdf) {
      fail(ErrorKind::kFormat, "{}: expected an XMP sidecar, found other XML; move the file away", source);
    }
  }
  std::vector<std::string> wanted;
  for (const std::string& keyword : keywords) {
    std::string name = keyword_of(keyword);
    if (!holds(wanted, name)) wanted.push_back(std::move(name));
  }
  Bag subject(rdf, kDublinCore, "dc", "subject");
  Bag ours(rdf, kOurs, "annulus", "keywords");
  const std::vector<std::string> written = ours.items();
  std::vector<std::string> all;
  std::vector<std::string> kept;  // of those that an earlier call wrote, or this one
  for (std::string& item : subject.items()) {
    const bool from_us = holds(written, item);
    if (from_us && !holds(wanted, item)) continue;
    if (from_us) kept.push_back(item);
    all.push_back(std::move(item));
  }
  for (const std::string& item : wanted) {
    if (holds(all, item)) continue;
    all.push_back(item);
    kept.push_back(item);
  }
  subject.set(all);
  ours.set(kept);
  std::ostringstream out;
  document.save(out, " ", pugi::format_indent | pugi::format_no_declaration);
  return out.str();
}

std::filesystem::path xmp_sidecar_of(const std::filesystem::path& photo) {
  std::filesystem::path whole = photo;
  whole += ".xmp";
  std::filesystem::path stem = photo;
  stem.replace_extension(".xmp");
  std::error_code ignored;
  if (!std::filesystem::exists(whole, ignored) && std::filesystem::exists(stem, ignored)) return stem;
  return whole;
}

bool write_xmp_keywords(const std::filesystem::path& photo, std::span<const std::string> keywords) {
  std::error_code ignored;
  if (!std::filesystem::exists(photo, ignored)) {
    fail(ErrorKind::kIo, "{}: expected a photo to write a sidecar for, found no such file", photo.string());
  }
  const std::filesystem::path sidecar = xmp_sidecar_of(photo);
  std::string before;
  if (std::filesystem::exists(sidecar, ignored)) {
    const WholeFile file = read_whole_file(sidecar, kLargestSidecar);
    before.assign(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
    if (before.empty()) {
      fail(ErrorKind::kFormat, "{}: expected an XMP sidecar, found an empty file; move it away", sidecar.string());
    }
  } else if (keywords.empty()) {
    return false;
  }
  const std::string after = xmp_with_keywords(before, keywords, sidecar.string());
  if (after == before) return false;
  write_file(sidecar, after);
  return true;
}

}  // namespace annulus

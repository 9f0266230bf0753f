// Networks of the catalogue on this machine: downloaded, verified, imported and kept in the cache as ONNX files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "annulus/base/note.h"
#include "annulus/base/progress.h"
#include "annulus/pipeline/backbones/backbone_catalogue.h"

namespace annulus {

// What is kept of a network beside its file, as backbones/NAME.json in the cache. Text that is not known is empty.
struct BackboneRecord {
  std::string address;          // that its source came from; "by hand: FILE" for a file of the user's
  std::string source_sha256;    // of the checkpoint, held from the first download on where no checksum is published
  std::string onnx_sha256;      // of the imported file
  std::string licence_shown;    // the licence that the user has seen
  double milliseconds = 0;      // an image on one thread of this machine, median; 0: not measured
  std::string milliseconds_on;  // the machine
};

// The file of the record; it need not exist.
std::filesystem::path backbone_record_file(const std::string& name);
// Throws Error{kFormat} if the file is there and broken.
BackboneRecord read_backbone_record(const std::string& name);
void write_backbone_record(const std::string& name, const BackboneRecord& record);

// Where the imported file is, or would be after its first use. Another source or other import options give another
// name, so that an entry that changed is imported anew.
std::filesystem::path cached_backbone(const BackboneEntry& entry);
bool is_cached(const BackboneEntry& entry);

// Why the importer of this program cannot make the network; nothing: it can.
std::optional<std::string> import_obstacle(const BackboneEntry& entry);

struct ResolvedBackbone {
  std::filesystem::path file;            // ONNX
  std::string name;                      // for records: the catalogue's name, or the file's
  const BackboneEntry* entry = nullptr;  // null for a file of the user's own
};

// A name of known_backbones(), or the path of an ONNX file. A network that is not in the cache is downloaded, verified
// and imported, which `progress` tells; of several processes one does it. `note` hears, once for a network, of a
// licence that does not allow commercial use or wants to be agreed to, and of a checksum that is recorded because none
// is published. Throws Error{kUsage} for an unknown name, Error{kIo} when the download fails, and what the importer
// throws; the cache then holds what it held before, and the part of the download that has come.
ResolvedBackbone resolve_backbone(const std::string& name_or_file, const ProgressCallback& progress = {},
                                  const NoteCallback& note = {});

// Imports a file that the user has got by hand, after the same checks.
ResolvedBackbone install_backbone(const BackboneEntry& entry, const std::filesystem::path& file,
                                  const ProgressCallback& progress = {}, const NoteCallback& note = {});

// Removes the imported file, its int8 forms and what was left of its download. The record stays: its checksum is held.
// False: there was nothing.
bool remove_backbone(const BackboneEntry& entry);

// The sentence that says what is wrong with the cached file; nothing: it is the one that was imported. Throws
// Error{kIo} when it is not in the cache.
std::optional<std::string> verify_backbone(const BackboneEntry& entry);

}  // namespace annulus

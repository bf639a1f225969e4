#include "device/owned.h"

namespace tessera {

OwnedStream::~OwnedStream() {
  try {
    device_.destroy_stream(stream_);
  } catch (const StatusError&) {
    // WHY: a destructor may not throw, and a failed device has already reported its failure.
  }
}

OwnedEvent::~OwnedEvent() {
  try {
    device_.destroy_event(event_);
  } catch (const StatusError&) {
    // WHY: a destructor may not throw, and a failed device has already reported its failure.
  }
}

}  // namespace tessera

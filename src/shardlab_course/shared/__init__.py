"""What two chapters share: a chapter imports from here, and never from another chapter."""

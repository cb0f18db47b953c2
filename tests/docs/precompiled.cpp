// Nothing of its own: this file is here so that the precompiled headers belong to something.

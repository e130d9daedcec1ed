"""HTTP, the page, and the Model Context Protocol."""

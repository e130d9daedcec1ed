"""The server: HTTP, the OpenAI-compatible routes, the Model Context Protocol and the page. Imported when one starts."""

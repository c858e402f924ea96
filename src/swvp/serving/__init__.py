"""An HTTP server for models: JSON, UDPipe's protocol, and pages for a browser; it needs the extra `swvp[serve]`."""

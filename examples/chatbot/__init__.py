"""A chatbot over grounded_rag that shows where every sentence comes from; made to be copied.

`answering` is the one seam to grounded_rag, `view` is an answer as the page shows it, `sessions`
keeps people apart, and `app` is the HTTP service around it all.
"""
